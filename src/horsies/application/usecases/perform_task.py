"""Running one task: from stored bytes to stored bytes, whatever the user's code does."""

from dataclasses import dataclass, field
from typing import Any

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

    def run(self) -> Ran:
        return self.definition.run((), self.arguments)

    async def run_async(self) -> Ran:
        return await self.definition.run_async((), self.arguments)


@dataclass(frozen=True, slots=True)
class PerformTask:
    registry: TaskRegistry
    codec: Codec
    payload_limit: int

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
        supervision.begin()
        return self.conclude(prepared.definition, prepared.run())

    async def run_async(self, job: Job, supervision: Supervision) -> Performed:
        prepared = self.prepare(job.name, job.payload)
        if isinstance(prepared, Performed):
            return prepared
        supervision.begin()
        return self.conclude(prepared.definition, await prepared.run_async())

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
            encoded = definition.codec.encode_result(ran.result)
        except UnfitValueError as error:
            return self._failed(definition.misfit(error))
        if len(encoded) <= self.payload_limit:
            return Performed(Succeeded(), encoded)
        size = f"its result takes {len(encoded)} bytes, of at most {self.payload_limit}"
        return self._failed(definition.misfit(UnfitValueError(size)))

    def _failed(self, error: TaskError, *, retryable: bool = False) -> Performed:
        """An error keeps its code, and so its retry, whatever has to be left out of it."""
        encoded = self.codec.encode_error(error)
        if len(encoded) > self.payload_limit:
            note = {"left_out": f"the details, which take {len(encoded)} bytes"}
            short = TaskError(error.error_code, shorten(error.message or "", SHORT_MESSAGE), note)
            encoded = self.codec.encode_error(short)
        return Performed(Errored(error.error_code, retryable), encoded)
