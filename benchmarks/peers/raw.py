"""No queue at all: a plain INSERT and commit into Horsies' own table, and COPY."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.horsies import HorsiesPeer
from psycopg.sql import SQL, Composed, Identifier, Literal, Placeholder
from uuid_utils.compat import uuid7

INSTANTS = ("sent_at", "enqueued_at")


class Raw:
    workers = 1
    settings = (
        "a psycopg connection in autocommit, one prepared statement, the same columns, indexes,"
        " checks and NOTIFY trigger as a send; COPY for the bulk"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._horsies = HorsiesPeer(setup)

    async def prepare(self) -> None:
        """With one task of Horsies, whose row is what is inserted again."""
        await self._horsies.prepare()
        await self._horsies.open()
        await self._horsies.send("noop", 0)
        await self._horsies.close()

    async def open(self) -> None:
        self._connection = psycopg.connect(self._setup.dsn, autocommit=True)
        cursor = self._connection.execute("SELECT * FROM horsies_tasks LIMIT 1")
        ((*values,),) = cursor.fetchall()
        names = [column.name for column in cursor.description or ()]
        self._row = {
            name: value for name, value in zip(names, values, strict=True) if value is not None
        }
        self._insert = _insert(self._row)

    async def close(self) -> None:
        self._connection.close()

    async def fill(self, task: str, count: int) -> None:
        assert task == "noop"
        columns = SQL(", ").join(map(Identifier, self._row))
        copying = SQL("COPY horsies_tasks ({}) FROM STDIN").format(columns)
        with self._connection.cursor() as cursor, cursor.copy(copying) as copy:
            for _ in range(count):
                copy.write_row(list((self._row | {"id": uuid7()}).values()))

    async def send(self, task: str, number: int) -> Any:
        assert task == "noop", number
        self._connection.execute(self._insert, (uuid7(), self._row["args"]), prepare=True)

    async def ended(self, sent: Any) -> None:
        raise NotImplementedError

    def left(self) -> bool:
        return False

    def span(self) -> Span:
        raise NotImplementedError

    def work(self) -> None:
        asyncio.run(asyncio.Event().wait())


def _insert(row: dict[str, Any]) -> Composed:
    """Id and arguments are given, the instants are the server's, the rest is fixed."""
    values: Sequence[Any] = [
        Placeholder()
        if name in ("id", "args")
        else SQL("statement_timestamp()")
        if name in INSTANTS
        else Literal(value)
        for name, value in row.items()
    ]
    return SQL("INSERT INTO horsies_tasks ({}) VALUES ({})").format(
        SQL(", ").join(map(Identifier, row)), SQL(", ").join(values)
    )


def make(setup: Setup) -> Raw:
    return Raw(setup)
