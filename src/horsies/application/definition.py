"""A task as it was defined: its function, its terms, and how its exceptions become errors."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, cast

from horsies.application.error_mapping import ErrorMapping
from horsies.application.ports.codec import (
    CallCodec,
    MismatchError,
    Signature,
    UnfitValueError,
)
from horsies.application.source import SourceLine
from horsies.domain.codes import ContractErrorCode, OperationalErrorCode
from horsies.domain.errors import TaskInterrupted
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy

_NOT_THE_TASKS_OWN = (KeyboardInterrupt, GeneratorExit, TaskInterrupted)
"""What comes from outside the task and must reach whoever runs it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave; `retryable` says that it raised an exception of a class to retry for."""

    result: TaskResult[Any, TaskError]
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    name: str
    aliases: tuple[str, ...]
    function: Callable[..., Any]
    is_async: bool
    fresh: bool
    signature: Signature
    codec: CallCodec
    queue: str
    retry: RetryPolicy | None
    timeout: timedelta | None
    result_ttl: timedelta | None
    on_failure: str | None
    errors: ErrorMapping
    location: SourceLine | None

    def run(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        function: Callable[..., Any] | None = None,
    ) -> Ran:
        """Call a sync function; whatever it does, a result comes of it.

        `function` takes the place of the task's own if it is given: with something around it.
        """
        try:
            return self._returned((function or self.function)(*args, **kwargs))
        except _NOT_THE_TASKS_OWN:
            raise
        except BaseException as exception:  # noqa: BLE001 - it becomes the result
            return self.raised(exception)

    async def run_async(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        function: Callable[..., Any] | None = None,
    ) -> Ran:
        """The same for `async def`; a cancellation that nobody asked for is an error too."""
        from asyncio import CancelledError, current_task  # noqa: PLC0415 - import horsies is lean

        try:
            return self._returned(await (function or self.function)(*args, **kwargs))
        except _NOT_THE_TASKS_OWN:
            raise
        except BaseException as exception:
            runner = current_task()
            asked = runner is not None and runner.cancelling() > 0
            if isinstance(exception, CancelledError) and asked:
                raise
            return self.raised(exception)

    def check(self, ran: Ran) -> TaskResult[Any, TaskError]:
        """The result of a run, if its value is what the signature promises."""
        if ran.result.is_err():
            return ran.result
        try:
            self.codec.encode_result(ran.result)
        except UnfitValueError as error:
            return TaskResult(err=self.misfit(error))
        return ran.result

    def misfit(self, error: UnfitValueError) -> TaskError:
        """A value that is not what was promised, or that cannot travel."""
        code = (
            ContractErrorCode.RETURN_TYPE_MISMATCH
            if isinstance(error, MismatchError)
            else OperationalErrorCode.WORKER_SERIALIZATION_ERROR
        )
        return TaskError(code, f"task {self.name!r}: {error}")

    def encode(self, result: TaskResult[Any, TaskError], limit: int) -> bytes:
        """A value as it is stored; raises UnfitValueError for one that is too large, too."""
        encoded = self.codec.encode_result(result)
        if len(encoded) > limit:
            raise UnfitValueError(f"its result takes {len(encoded)} bytes, of at most {limit}")
        return encoded

    def raised(self, exception: BaseException) -> Ran:
        """What comes of a run that ended in this."""
        with suppress(Exception):  # begin in the user's code, if the exception lets us
            exception.__traceback__ = _from_the_users_code(exception.__traceback__)
        return Ran(TaskResult(err=self.errors.error_of(exception)), self._retries(exception))

    def _retries(self, exception: BaseException) -> bool:
        try:
            return self.retry is not None and self.retry.covers_exception(exception)
        except Exception:  # noqa: BLE001 - a metaclass may answer isinstance with anything
            return False

    def _returned(self, value: Any) -> Ran:
        if isinstance(value, TaskResult):
            result = cast("TaskResult[Any, Any]", value)
            if result.is_ok() or _is_error(result.err_value):
                return Ran(result)
            given = (
                f"TaskResult(err=...) holding an object of type {type(result.err_value).__name__}"
            )
        else:
            given = f"an object of type {type(value).__name__}"
        message = (
            f"task {self.name!r} returned {given}: "
            "return TaskResult(ok=value) or TaskResult(err=TaskError(...))"
        )
        return Ran(TaskResult(err=TaskError(ContractErrorCode.RETURN_TYPE_MISMATCH, message)))


def _from_the_users_code(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames of ours that lead to it; all of them if there are no others."""
    theirs = trace
    while theirs is not None and theirs.tb_frame.f_globals.get("__package__") == __package__:
        theirs = theirs.tb_next
    return theirs or trace


def _is_error(value: object) -> bool:
    """A TaskError, and one that was properly made."""
    return isinstance(value, TaskError) and isinstance(getattr(value, "error_code", None), str)
