"""Carrying out scripts: one statement after the other, on whatever executes them."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from psycopg import AsyncConnection, Connection

from horsies.adapters.postgres.rows import Row

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """A statement with `%(name)s` places; `answers` says whether it gives rows."""

    statement: str
    values: Mapping[str, Any]
    answers: bool = True


Script: TypeAlias = Generator[Ask, Sequence[Row], T]
"""Yields one statement at a time and is sent its rows: written once, for sync and async."""


def drive(script: Script[T], execute: Callable[[Ask], Sequence[Row]]) -> T:
    try:
        ask = next(script)
        while True:
            ask = script.send(execute(ask))
    except StopIteration as done:
        return done.value


async def drive_async(script: Script[T], execute: Callable[[Ask], Awaitable[Sequence[Row]]]) -> T:
    try:
        ask = next(script)
        while True:
            ask = script.send(await execute(ask))
    except StopIteration as done:
        return done.value


def run(connection: Connection[Row], script: Script[T]) -> T:
    """On a psycopg connection, in whatever transaction it is in."""

    def execute(ask: Ask) -> Sequence[Row]:
        cursor = connection.execute(ask.statement.encode(), ask.values)
        return cursor.fetchall() if ask.answers else ()

    return drive(script, execute)


async def run_async(connection: AsyncConnection[Row], script: Script[T]) -> T:
    async def execute(ask: Ask) -> Sequence[Row]:
        cursor = await connection.execute(ask.statement.encode(), ask.values)
        return await cursor.fetchall() if ask.answers else ()

    return await drive_async(script, execute)
