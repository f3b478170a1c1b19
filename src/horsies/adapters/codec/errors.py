"""`TaskError` on the wire: read through a hook, so that its constructor runs, and made legible."""

import re
from abc import ABC
from typing import Any

import msgspec

from horsies.adapters.codec.models import RefusedError
from horsies.domain.result import ExceptionInfo, TaskError

_ILLEGIBLE = re.compile("[\0\ud800-\udfff]")


class ErrorOnWire(ABC):  # noqa: B024 - a name for msgspec, which checks instances against it
    """Stands for `TaskError`: msgspec fills dataclasses itself and calls hooks for the rest."""


ErrorOnWire.register(TaskError)


class _StoredError(msgspec.Struct):
    error_code: str
    message: str | None = None
    data: Any = None
    exception: ExceptionInfo | None = None


def load_error(plain: Any) -> TaskError:
    try:
        stored = msgspec.convert(plain, _StoredError)
    except msgspec.ValidationError as error:
        raise RefusedError(f"not a TaskError: {error}") from None
    return TaskError(stored.error_code, stored.message, stored.data, stored.exception)


def with_legible_trace(error: TaskError) -> TaskError:
    """An exception's text may hold anything, and that must not cost us the task's own error."""
    return TaskError(error.error_code, error.message, error.data, _legible_info(error.exception))


def legible(error: TaskError) -> TaskError:
    message = None if error.message is None else _legible_text(error.message)
    info = _legible_info(error.exception)
    return TaskError(_legible_text(error.error_code), message, error.data, info)


def without_data(error: TaskError) -> TaskError:
    note = {"unserializable": _legible_text(type(error.data).__qualname__)}
    return TaskError(error.error_code, error.message, note, error.exception)


def _legible_info(info: Any) -> ExceptionInfo | None:
    if not isinstance(info, ExceptionInfo):
        return None
    texts = (info.type, info.message, info.traceback)
    return ExceptionInfo(*(_legible_text(text) for text in texts))


def _legible_text(value: Any) -> str:
    try:
        return _ILLEGIBLE.sub("\ufffd", str(value))
    except Exception as broken:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<no text: str() raised {type(broken).__name__}>"
