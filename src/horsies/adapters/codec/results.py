"""Results as JSON: `{"ok": value}` or `{"err": error}`."""

from typing import Any

import msgspec

from horsies.adapters.codec.errors import legible, with_legible_trace, without_data
from horsies.adapters.codec.shape import Shape
from horsies.application.ports.codec import UnfitValueError
from horsies.domain.result import TaskError, TaskResult

_TITLES = {"ok": "the result", "err": "the error"}


class Results:
    def __init__(self, kind: Any) -> None:
        self._shape = Shape({}, {"ok": kind, "err": TaskError}, _TITLES.__getitem__)

    def encode(self, result: TaskResult[Any, TaskError]) -> bytes:
        if result.is_ok():
            return self._shape.encode({"ok": result.ok_value})
        error: Any = result.err_value
        legible_error = with_legible_trace(error) if isinstance(error, TaskError) else error
        return self._shape.encode({"err": legible_error})

    def encode_surely(self, error: TaskError) -> bytes:
        known = legible(error)
        try:
            return self._shape.encode({"err": known})
        except UnfitValueError:
            return self._shape.encode({"err": without_data(known)})

    def decode(self, payload: bytes) -> TaskResult[Any, TaskError]:
        match self._shape.decode(payload):
            case {"ok": value, **rest} if not rest:
                return TaskResult(ok=value)
            case {"err": error, **rest} if not rest:
                return TaskResult(err=error)
            case _:
                raise UnfitValueError("a result holds either ok or err")


class _Failure(msgspec.Struct):
    err: msgspec.Raw


_read_failure = msgspec.json.Decoder(_Failure).decode


def raw_error(payload: bytes) -> msgspec.Raw:
    """The error of a stored result, uninterpreted."""
    try:
        return _read_failure(payload).err
    except (ValueError, RecursionError):
        raise UnfitValueError("the payload is not a failed result") from None
