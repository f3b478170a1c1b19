"""Running one task: from stored bytes to stored bytes, whatever the user's code does."""

from dataclasses import dataclass, field
from typing import Any

from horsies.application.context import CurrentTask, Surroundings, running
from horsies.application.definition import Ran, TaskDefinition
from horsies.application.ports.codec import Codec, UnfitValueError
from horsies.application.ports.performer import Job, Performed, Supervision
from horsies.application.registry import TaskRegistry
from horsies.domain.codes import ContractErrorCode, OperationalErrorCode
from horsies.domain.outcome import Errored, Succeeded, Unresolved
from horsies.domain.result import TaskError, shorten

SHORT_MESSAGE = 500
"""Characters kept of the message of an error that is too large to be stored whole."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task about to run; between `prepare` and `conclude` only the user's code is called."""

    definition: TaskDefinition
    arguments: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PerformTask:
    registry: TaskRegistry
    codec: Codec
    surroundings: Surroundings

    async def open(self) -> None:
        await self.surroundings.lifespan.enter()

    async def close(self) -> None:
        await self.surroundings.lifespan.leave()

    def is_async(self, name: str) -> bool:
        definition = self.registry.find(name)
        return definition is not None and definition.is_async

    def needs_fresh(self, name: str) -> bool:
        definition = self.registry.find(name)
        return definition is not None and definition.fresh

    def run(self, job: Job, supervision: Supervision) -> Performed:
        prepared = self.prepare(job.name, job.payload)
        if isinstance(prepared, Performed):
            return prepared
        definition, arguments = prepared.definition, prepared.arguments
        task = CurrentTask(job, definition, supervision, self.surroundings)
        function = self.surroundings.hooks.around(definition.function, task)
        before = running.set(task)
        try:
            supervision.begin()
            ran = definition.run((), arguments, function)
        finally:
            running.reset(before)
        return self._end(task, definition, ran)

    async def run_async(self, job: Job, supervision: Supervision) -> Performed:
        prepared = self.prepare(job.name, job.payload)
        if isinstance(prepared, Performed):
            return prepared
        definition, arguments = prepared.definition, prepared.arguments
        task = CurrentTask(job, definition, supervision, self.surroundings)
        function = self.surroundings.hooks.around_async(definition.function, task)
        before = running.set(task)
        try:
            supervision.begin()
            ran = await definition.run_async((), arguments, function)
        finally:
            running.reset(before)
        return self._end(task, definition, ran)

    def prepare(self, name: str, payload: bytes) -> Prepared | Performed:
        """Find the task and read its arguments; what does not fit is left to other workers."""
        definition = self.registry.find(name)
        if definition is None:
            code = OperationalErrorCode.WORKER_RESOLUTION_ERROR
            return Performed(Unresolved(code), detail=f"this worker has no task named {name!r}")
        try:
            return Prepared(definition, definition.codec.decode_call(payload))
        except UnfitValueError as error:
            code = ContractErrorCode.ARGUMENT_MISMATCH
            return Performed(Unresolved(code), detail=f"task {name!r}: {error}")

    def conclude(self, definition: TaskDefinition, ran: Ran) -> Performed:
        """Encode what came of it; a value that cannot be stored is an error that can."""
        if ran.result.is_err():
            return self._failed(ran.result.err_value, retryable=ran.retryable)
        try:
            encoded = definition.encode(ran.result, self.surroundings.payload_limit)
        except UnfitValueError as error:
            return self._failed(definition.misfit(error))
        return Performed(Succeeded(), encoded)

    def _end(self, task: CurrentTask, definition: TaskDefinition, ran: Ran) -> Performed:
        """What a task has left undone is an exception of its own."""
        undone = task.end()
        if undone is not None and ran.result.is_ok():
            ran = definition.raised(undone)
        return self.conclude(definition, ran)

    def _failed(self, error: TaskError, *, retryable: bool = False) -> Performed:
        """An error keeps its code, and so its retry, whatever has to be left out of it."""
        encoded = self.codec.encode_error(error)
        if len(encoded) > self.surroundings.payload_limit:
            note = {"left_out": f"the details, which take {len(encoded)} bytes"}
            short = TaskError(error.error_code, shorten(error.message or "", SHORT_MESSAGE), note)
            encoded = self.codec.encode_error(short)
        return Performed(Errored(error.error_code, retryable), encoded)
