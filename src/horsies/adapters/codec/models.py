"""Pydantic models, recognised by their methods so that pydantic itself is never imported."""

from collections.abc import Iterator
from typing import Any

import msgspec

from horsies.application.ports.codec import UnfitValueError


class RefusedError(ValueError):
    """Raised inside msgspec's hooks; its text names types and fields, never values."""


def is_model(kind: Any) -> bool:
    return hasattr(kind, "model_validate_json") and hasattr(kind, "model_dump_json")


def dump_model(model: Any) -> Any:
    """Plain JSON values under the fields' own names: aliases for reading and writing may differ."""
    try:
        return model.model_dump(mode="json", by_alias=False, round_trip=True, warnings=False)
    except Exception as error:  # noqa: BLE001 - a user's serializer may raise anything
        raise UnfitValueError(
            f"{type(model).__qualname__} could not be dumped ({type(error).__name__})"
        ) from None


def load_model(kind: Any, plain: Any) -> Any:
    """Read as JSON, because a strict model takes a date from a JSON text but not from a `str`."""
    text = msgspec.json.encode(plain)
    try:
        return kind.model_validate_json(text, by_alias=True, by_name=True)
    except Exception as error:  # noqa: BLE001 - a user's validator may raise anything
        raise RefusedError(f"not a valid {kind.__qualname__}{_reason(kind, error)}") from None


def fields_of(model: Any) -> Iterator[tuple[str, Any]]:
    yield from model.__dict__.items()
    extra: dict[str, Any] | None = getattr(model, "__pydantic_extra__", None)
    yield from (extra or {}).items()


def _reason(kind: Any, error: Exception) -> str:
    """Field and error type only: pydantic's own text quotes the input."""
    listing: Any = getattr(error, "errors", None)
    if listing is None:
        return f" ({type(error).__name__})"
    first = listing(include_url=False, include_context=False, include_input=False)[0]
    fields = kind.model_fields
    known = {*fields, *(field.alias for field in fields.values())}
    place = f"field '{first['loc'][0]}' " if first["loc"] and first["loc"][0] in known else ""
    return f" ({place}{first['type']})"
