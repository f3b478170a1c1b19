"""What msgspec asks about types that it does not know itself."""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from horsies.adapters.codec.errors import ErrorOnWire, load_error
from horsies.adapters.codec.models import dump_model, is_model, load_model
from horsies.application.ports.codec import UnfitValueError

_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (Decimal, Decimal.__str__),
    (datetime, datetime.isoformat),
    (date, date.isoformat),
    (time, time.isoformat),
)
"""msgspec takes exact types; SafeString, numpy.float64 or a frozen datetime are subclasses."""


def to_wire(value: Any) -> Any:
    if is_model(type(value)):
        return dump_model(value)
    for kind, plain in _PLAIN:
        if isinstance(value, kind):
            return plain(value)
    raise UnfitValueError(f"{type(value).__qualname__} is not a type that can travel")


def from_wire(kind: Any, plain: Any) -> Any:
    return load_error(plain) if kind is ErrorOnWire else load_model(kind, plain)
