"""Finds in a value what JSON would alter silently or PostgreSQL would refuse."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple, cast

import msgspec

from horsies.adapters.codec.models import fields_of, is_model

SUSPICIOUS = re.compile(
    rb"\\u0000"
    rb'|NaN|Infinity|nan"|inf"'  # decimals, and the keys of mappings
    rb'|\+\d\d:\d\d"|-\d\d:\d\d"'  # an offset is written in minutes, but may have seconds
    rb"|\*\*\*\*\*\*\*\*\*\*"  # a secret that pydantic masked
)
"""What flaws leave in JSON. Harmless texts may look the same: then the value itself is searched.

Each alternative begins with a literal, which makes the search several times faster.
"""

_NOT_FINITE_IN_MSGPACK = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")

_SURROGATE = re.compile("[\ud800-\udfff]")


class Flaw(NamedTuple):
    place: str
    kind: str


def may_hide_nan(payload: bytes, values: Any) -> bool:
    """NaN is `null` in JSON, as is None, which is common; MessagePack tells them apart quickly."""
    if b"null" not in payload:
        return False
    try:
        packed = msgspec.msgpack.encode(values, enc_hook=_as_it_is)
    except Exception:  # noqa: BLE001 - large integers and odd fields of models: then look
        return True
    return bool(_NOT_FINITE_IN_MSGPACK.search(packed))


def _as_it_is(value: Any) -> Any:
    """Dumping a model may turn NaN into None, so its fields are taken as they are."""
    if is_model(type(value)):
        return dict(fields_of(value))
    return float(value) if isinstance(value, float) else None


def find_flaw(value: Any) -> Flaw | None:
    try:
        return _search(value)
    except RecursionError:
        return Flaw("", "nesting this deep")
    except Exception:  # noqa: BLE001 - a user's object may raise at any look
        return Flaw("", "an object that cannot be looked into")


def _search(value: Any) -> Flaw | None:
    if kind := _flaw_of(value):
        return Flaw("", kind)
    for step, part in _parts(value):
        if flaw := _search(part):
            return Flaw(step + flaw.place, flaw.kind)
    return None


def _flaw_of(value: Any) -> str | None:
    match value:
        case str():
            if "\0" in value:
                return "a NUL character"
            return "a lone surrogate" if _SURROGATE.search(value) else None
        case float():
            return None if isfinite(value) else "NaN or infinity"
        case Decimal():
            return None if value.is_finite() else "NaN or infinity"
        case datetime() | time():
            offset = value.utcoffset() or timedelta()
            return "a UTC offset with seconds" if offset % timedelta(minutes=1) else None
        case _:
            return "a masked secret" if hasattr(value, "get_secret_value") else None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Keys of mappings are not named: they are data, and data may be secret."""
    if isinstance(value, dict):
        for pair in cast("dict[Any, Any]", value).items():
            yield from (("[...]", part) for part in pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for index, item in enumerate(cast("Iterable[Any]", value)):
            yield f"[{index}]", item
    else:
        yield from ((f".{name}", item) for name, item in _fields(value))


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    kind = cast("type[Any]", type(value))
    if is_model(kind):
        yield from fields_of(value)
    elif isinstance(value, msgspec.Struct):
        yield from ((name, getattr(value, name, None)) for name in value.__struct_fields__)
    elif is_dataclass(kind):
        yield from ((field.name, getattr(value, field.name, None)) for field in fields(kind))
    else:
        attributes = getattr(kind, "__attrs_attrs__", ())
        yield from ((field.name, getattr(value, field.name, None)) for field in attributes)
