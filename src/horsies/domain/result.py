"""What a task gives back: a value or an error, exactly one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from traceback import format_exception
from typing import Any, Generic, TypeVar, cast, final, overload

from returns.result import Failure, Success

from horsies.domain.codes import known_code
from horsies.domain.errors import ResultAccessError

T_co = TypeVar("T_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E")
U = TypeVar("U")

Ok = Success
Err = Failure

TRACEBACK_LIMIT = 8_000
"""Characters kept of a traceback: the head says where it began, the tail what was raised."""


@dataclass(frozen=True, slots=True)
class ExceptionInfo:
    """An exception as it can be stored: no objects, no locals, bounded in length."""

    type: str
    message: str
    traceback: str = ""

    @classmethod
    def of(cls, exception: BaseException) -> "ExceptionInfo":
        """Whatever the exception does to prevent it."""
        kind = type(exception)
        name = f"{kind.__module__}.{kind.__qualname__}"
        return cls(name, _safe_text(exception), _safe_traceback(exception))


@dataclass(frozen=True, slots=True, init=False)
class TaskError:
    """Why a task failed: a code to branch on, a message to read, data to act on.

    >>> TaskError("OUT_OF_PAPER", "tray 2 is empty").error_code
    'OUT_OF_PAPER'
    """

    error_code: str
    message: str | None
    data: Any
    exception: ExceptionInfo | None

    def __init__(
        self,
        error_code: str,
        message: str | None = None,
        data: Any = None,
        exception: BaseException | ExceptionInfo | None = None,
    ) -> None:
        if not isinstance(error_code, str) or not error_code:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise TypeError("a TaskError needs an error code: a non-empty text to branch on")
        if isinstance(exception, BaseException):
            exception = ExceptionInfo.of(exception)
        object.__setattr__(self, "error_code", known_code(error_code))
        object.__setattr__(self, "message", message)
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "exception", exception)

    def __str__(self) -> str:
        kind = self.exception.type.rpartition(".")[2] if self.exception else None
        return ": ".join(str(part) for part in (self.error_code, kind, self.message) if part)


class _Missing(Enum):
    """An enum, because its member stays itself when a result is copied or pickled."""

    MISSING = auto()


_MISSING = _Missing.MISSING


@final
class TaskResult(Generic[T_co, E_co]):
    """A value (`ok=`) or an error (`err=`).

    >>> TaskResult(ok=3).map(lambda n: n + 1).unwrap()
    4
    """

    __slots__ = ("_err", "_ok")

    @overload
    def __init__(self, *, ok: T_co) -> None: ...
    @overload
    def __init__(self, *, err: E_co) -> None: ...
    def __init__(self, *, ok: Any = _MISSING, err: Any = _MISSING) -> None:
        if (ok is _MISSING) == (err is _MISSING):
            raise TypeError("TaskResult takes exactly one of ok= and err=")
        self._ok = ok
        self._err = err

    def is_ok(self) -> bool:
        return self._err is _MISSING

    def is_err(self) -> bool:
        return self._ok is _MISSING

    @property
    def ok_value(self) -> T_co:
        if self._ok is _MISSING:
            raise _no_value(self._err)
        return self._ok

    @property
    def err_value(self) -> E_co:
        if self._err is _MISSING:
            raise ResultAccessError("the task succeeded: there is no error to read")
        return self._err

    def unwrap(self) -> T_co:
        """The value, or `ResultAccessError` carrying the task's error."""
        return self.ok_value

    def map(self, change: Callable[[T_co], U]) -> "TaskResult[U, E_co]":
        if self.is_ok():
            return TaskResult(ok=change(self._ok))
        return cast("TaskResult[U, E_co]", self)

    def to_returns(self) -> "Ok[T_co] | Err[E_co]":
        return Success(self._ok) if self.is_ok() else Failure(self._err)

    @classmethod
    def from_returns(cls, result: "Ok[T] | Err[E]") -> "TaskResult[T, E]":
        if isinstance(result, Success):
            return TaskResult(ok=result.unwrap())
        return TaskResult(err=result.failure())

    def __bool__(self) -> bool:
        raise TypeError("a TaskResult is neither true nor false: ask is_ok() or is_err()")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskResult):
            return NotImplemented
        theirs = cast("TaskResult[Any, Any]", other)
        return bool(self._ok == theirs._ok and self._err == theirs._err)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - a result holds whatever the task returns

    def __repr__(self) -> str:
        return f"TaskResult(ok={self._ok!r})" if self.is_ok() else f"TaskResult(err={self._err!r})"


def _no_value(error: object) -> ResultAccessError:
    """With the task's own traceback as a note, so that it shows where the value was wanted."""
    known = error if isinstance(error, TaskError) else None
    access = ResultAccessError(f"there is no value: {error}", known)
    if known and known.exception and known.exception.traceback:
        access.add_note(f"In the task:\n{known.exception.traceback.rstrip()}")
    return access


def shorten(text: str, limit: int = TRACEBACK_LIMIT) -> str:
    """The head and the tail of a long text, saying what was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    head, left_out, tail = text[:half], len(text) - 2 * half, text[len(text) - half :]
    return f"{head}\n... {left_out} characters left out ...\n{tail}"


def _safe_traceback(exception: BaseException) -> str:
    try:
        return shorten("".join(format_exception(exception)))
    except Exception as broken:  # noqa: BLE001 - a user's exception may raise anything
        return f"<no traceback: formatting it raised {type(broken).__name__}>"


def _safe_text(exception: BaseException) -> str:
    try:
        return shorten(str(exception))
    except Exception as broken:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<no message: str() raised {type(broken).__name__}>"
