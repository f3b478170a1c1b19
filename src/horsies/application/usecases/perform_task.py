"""Running one task: from stored bytes to stored bytes, whatever the user's code does."""

from dataclasses import dataclass
from typing import Any

from horsies.application.definition import Ran, TaskDefinition
from horsies.application.ports.codec import Codec, MismatchError, UnfitValueError
from horsies.application.registry import TaskRegistry
from horsies.domain.codes import ContractErrorCode, OperationalErrorCode
from horsies.domain.outcome import Errored, Outcome, Succeeded, Unresolved
from horsies.domain.result import TaskError


@dataclass(frozen=True, slots=True)
class Performed:
    """The outcome for the judge, and the result that nobody else needs to read."""

    outcome: Outcome
    result: bytes | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task about to run; between `prepare` and `conclude` only the user's code is called."""

    definition: TaskDefinition
    arguments: dict[str, Any]

    def run(self) -> Ran:
        return self.definition.run((), self.arguments)

    async def run_async(self) -> Ran:
        return await self.definition.run_async((), self.arguments)


@dataclass(frozen=True, slots=True)
class PerformTask:
    registry: TaskRegistry
    codec: Codec
    payload_limit: int

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
        """Encode what came of it; a result that cannot be stored is an error that can."""
        try:
            encoded = definition.codec.encode_result(ran.result)
        except MismatchError as error:
            return self._failed(ContractErrorCode.RETURN_TYPE_MISMATCH, definition, str(error))
        except UnfitValueError as error:
            return self._failed(
                OperationalErrorCode.WORKER_SERIALIZATION_ERROR, definition, str(error)
            )
        if len(encoded) > self.payload_limit:
            size = f"its result takes {len(encoded)} bytes, of at most {self.payload_limit}"
            return self._failed(OperationalErrorCode.WORKER_SERIALIZATION_ERROR, definition, size)
        if ran.result.is_ok():
            return Performed(Succeeded(), encoded)
        return Performed(Errored(ran.result.err_value.error_code, ran.retryable), encoded)

    def _failed(self, code: str, definition: TaskDefinition, reason: str) -> Performed:
        error = TaskError(code, f"task {definition.name!r}: {reason}")
        return Performed(Errored(code), self.codec.encode_error(error))
