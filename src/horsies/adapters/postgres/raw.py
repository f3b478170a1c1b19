"""Values that nobody looks at: they come as bytes and go as bytes, in the server's own form.

Reading a row of a task into Python's types costs several times as much as running a short task.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from struct import Struct
from typing import Any, cast

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import Buffer, Loader
from psycopg.adapt import Dumper
from psycopg.pq import Format

from horsies.adapters.postgres.claiming import ELIGIBLE_AT, RESULT_TTL
from horsies.adapters.postgres.rows import Row

_LENGTH = Struct(">i")
_HEAD = Struct(">iiIii")
_NULL = _LENGTH.pack(-1)
_RAW_TYPES = ("uuid", "text", "timestamptz", "jsonb", "interval")
_ROW_TYPES = (
    *("uuid", "int4", "text", "text", "text", "int4", "int2", "text", "int2", "timestamptz"),
    *("int2", "interval", "timestamptz", "jsonb", "uuid", "timestamptz", "timestamptz"),
)
"""Of `queries.CLAIMED_COLUMNS`."""


class RawArray:
    """An array in the server's form, of elements in the server's form."""

    oid = element_oid = 0
    __slots__ = ("data",)

    def __init__(self, items: Sequence[bytes | None]) -> None:
        pack = _LENGTH.pack
        parts = [_HEAD.pack(1, 1, self.element_oid, len(items), 1)]
        for item in items:
            if item is None:
                parts.append(_NULL)
            else:
                parts += (pack(len(item)), item)
        self.data = b"".join(parts)


class Uuids(RawArray):
    oid, element_oid = 2951, 2950
    __slots__ = ()


class Texts(RawArray):
    oid, element_oid = 1009, 25
    __slots__ = ()


class Instants(RawArray):
    oid, element_oid = 1185, 1184
    __slots__ = ()


class Ints(RawArray):
    oid, element_oid = 1007, 23
    __slots__ = ()

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__([_LENGTH.pack(number) for number in numbers])


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: RawArray) -> Buffer:
        return obj.data


def _dumper_of(kind: type[RawArray]) -> type[Dumper]:
    return type(f"{kind.__name__}Dumper", (_ArrayDumper,), {"oid": kind.oid})


def leave_raw(connection: AsyncConnection[Any]) -> None:
    """Of this connection nothing but small numbers is read."""
    raw = _loader_kind(psycopg.adapters.types["bytea"].oid)
    for name in _RAW_TYPES:
        connection.adapters.register_loader(name, raw)
    for kind in (Uuids, Texts, Instants, Ints):
        connection.adapters.register_dumper(kind, _dumper_of(kind))


class RowReader:
    """Reads a raw row after all."""

    def __init__(self) -> None:
        oids = [psycopg.adapters.types[name].oid for name in _ROW_TYPES]
        self._loaders = [_loader_kind(oid)(oid) for oid in oids]

    def __call__(self, row: Row) -> Row:
        return tuple(
            loader.load(value) if isinstance(value, bytes) else value
            for loader, value in zip(self._loaders, row, strict=True)
        )

    def lifetime(self, value: bytes) -> timedelta:
        return cast("timedelta", self._loaders[RESULT_TTL].load(value))

    def instant(self, value: bytes) -> datetime:
        return cast("datetime", self._loaders[ELIGIBLE_AT].load(value))


def _loader_kind(oid: int) -> type[Loader]:
    kind = psycopg.adapters.get_loader(oid, Format.BINARY)
    assert kind is not None, f"the driver cannot read type {oid}"
    return kind
