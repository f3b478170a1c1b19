"""A task as it was defined: its function, its terms, and how its exceptions become errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from horsies.application.error_mapping import ErrorMapping
from horsies.application.ports.codec import CallCodec, Signature
from horsies.application.source import SourceLine
from horsies.domain.codes import ContractErrorCode
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy


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
    signature: Signature
    codec: CallCodec
    queue: str
    retry: RetryPolicy | None
    timeout: timedelta | None
    result_ttl: timedelta | None
    on_failure: str | None
    errors: ErrorMapping
    location: SourceLine | None

    def run(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Ran:
        """Call a sync function; whatever it does, a result comes of it."""
        try:
            return self._returned(self.function(*args, **kwargs))
        except (Exception, SystemExit) as exception:  # noqa: BLE001 - it becomes the result
            return self._raised(exception)

    async def run_async(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Ran:
        """The same for `async def`."""
        try:
            return self._returned(await self.function(*args, **kwargs))
        except (Exception, SystemExit) as exception:  # noqa: BLE001 - it becomes the result
            return self._raised(exception)

    def _raised(self, exception: BaseException) -> Ran:
        if exception.__traceback__ and exception.__traceback__.tb_next:
            exception.__traceback__ = exception.__traceback__.tb_next  # begin in the user's code
        retryable = self.retry is not None and self.retry.covers_exception(exception)
        return Ran(TaskResult(err=self.errors.error_of(exception)), retryable)

    def _returned(self, value: Any) -> Ran:
        if isinstance(value, TaskResult):
            result = cast("TaskResult[Any, Any]", value)
            if result.is_ok() or isinstance(result.err_value, TaskError):
                return Ran(result)
            value = result.err_value
        message = (
            f"task {self.name!r} returned {type(value).__name__}, not a TaskResult: "
            "return TaskResult(ok=value) or TaskResult(err=TaskError(...))"
        )
        return Ran(TaskResult(err=TaskError(ContractErrorCode.RETURN_TYPE_MISMATCH, message)))
