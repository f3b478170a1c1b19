"""A JSON object with typed fields: written only if it can be read back as what it was."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NotRequired, TypedDict
from uuid import UUID

import msgspec
from msgspec import inspect

from horsies.adapters.codec.complaints import Title, unreadable, unwritable
from horsies.adapters.codec.hooks import from_wire, to_wire
from horsies.adapters.codec.refusals import SUSPICIOUS, find_flaw, may_hide_nan
from horsies.adapters.codec.types import holds, on_wire
from horsies.application.ports.codec import UnfitValueError

_encode = msgspec.json.Encoder(enc_hook=to_wire).encode
_encode_sorted = msgspec.json.Encoder(enc_hook=to_wire, order="deterministic").encode

_SELF_EVIDENT = frozenset({str, int, float, bool, type(None)})
_TEXTS_IN_JSON = (bytes, bytearray, memoryview, datetime, date, time, timedelta, UUID, Decimal)


def _encode_stably(values: Any) -> bytes:
    """Equal sets give equal bytes, hence fingerprints, in every process if they can be sorted.

    msgspec then sorts mappings too, which is why signatures without sets are spared it.
    """
    try:
        return _encode_sorted(values)
    except TypeError:
        return _encode(values)


class Shape:
    def __init__(
        self, required: Mapping[str, Any], optional: Mapping[str, Any], title: Title
    ) -> None:
        fields = {name: on_wire(kind) for name, kind in required.items()}
        fields |= {name: NotRequired[on_wire(kind)] for name, kind in optional.items()}
        make: Any = TypedDict
        self._type: Any = make("Fields", fields)
        self._title = title
        self._decode: Callable[[bytes], dict[str, Any]]
        self._decode = msgspec.json.Decoder(self._type, dec_hook=from_wire).decode
        sets = holds(self._type, inspect.SetType, inspect.FrozenSetType)
        self._encode = _encode_stably if sets else _encode
        self._takes_texts = holds(self._type, inspect.StrType)

    def encode(self, values: Mapping[str, Any]) -> bytes:
        try:
            payload = self._encode(values)
        except Exception:  # noqa: BLE001 - a user's object may raise anything
            raise UnfitValueError(self._accusation(values)) from None
        if SUSPICIOUS.search(payload) or may_hide_nan(payload, values):
            self._refuse_flaws(values)
            self._refuse_flaws(msgspec.json.decode(payload))  # enums and serializers add texts
        self.decode(payload)
        if self._takes_texts and not _SELF_EVIDENT.issuperset(map(type, values.values())):
            self._refuse_disguises(values)
        return payload

    def decode(self, payload: bytes) -> dict[str, Any]:
        try:
            return self._decode(payload)
        except Exception as error:  # noqa: BLE001 - a user's __post_init__ may raise anything
            raise unreadable(error, self._title) from None

    def _refuse_flaws(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if flaw := find_flaw(value):
                where = f", at {flaw.place}" if flaw.place else ""
                raise UnfitValueError(
                    f"{self._title(name)}{where}: {flaw.kind} cannot travel"
                ) from None

    def _refuse_disguises(self, values: Mapping[str, Any]) -> None:
        """A `bytes` in place of a `str` would be read back, but as another text."""
        try:
            plain = msgspec.to_builtins(values, builtin_types=_TEXTS_IN_JSON, enc_hook=to_wire)
            msgspec.convert(plain, self._type, str_keys=True, dec_hook=from_wire)
        except Exception as error:  # noqa: BLE001 - as above
            raise unreadable(error, self._title) from None

    def _accusation(self, values: Mapping[str, Any]) -> str:
        """Encodes one by one to learn whose fault it is."""
        for name, value in values.items():
            try:
                self._encode(value)
            except UnicodeEncodeError:
                self._refuse_flaws({name: value})
            except Exception as error:  # noqa: BLE001 - as above
                return f"{self._title(name)} cannot travel: {unwritable(error)}"
        return "the values cannot travel"
