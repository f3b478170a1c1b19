"""Sends and completions inside a transaction of psycopg, on a cursor of our own."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from typing import Any, TypeVar

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from horsies.adapters.postgres.foreign import is_after_a_failure, unusable
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Ask, Script, drive, drive_async

T = TypeVar("T")


def run_on_psycopg(connection: Connection[Any], script: Script[T]) -> T:
    _expect_usable(connection)
    scope: AbstractContextManager[object] = (
        connection.transaction() if _commits_each_statement(connection) else nullcontext()
    )
    with scope, Cursor(connection, row_factory=tuple_row) as cursor:

        def execute(ask: Ask) -> Sequence[Row]:
            cursor.execute(ask.statement.encode(), ask.values)
            return cursor.fetchall() if ask.answers else ()

        return drive(script, execute)


async def run_on_async_psycopg(connection: AsyncConnection[Any], script: Script[T]) -> T:
    _expect_usable(connection)
    scope: AbstractAsyncContextManager[object] = (
        connection.transaction() if _commits_each_statement(connection) else nullcontext()
    )
    async with scope, AsyncCursor(connection, row_factory=tuple_row) as cursor:

        async def execute(ask: Ask) -> Sequence[Row]:
            await cursor.execute(ask.statement.encode(), ask.values)
            return await cursor.fetchall() if ask.answers else ()

        return await drive_async(script, execute)


def is_in_transaction(connection: Connection[Any] | AsyncConnection[Any]) -> bool:
    if connection.closed:  # and its transaction undone
        return False
    return connection.info.transaction_status is not TransactionStatus.IDLE


def _expect_usable(connection: Connection[Any] | AsyncConnection[Any]) -> None:
    if connection.closed:
        raise unusable(connection, "it is closed")
    if connection.info.pipeline_status is not PipelineStatus.OFF:
        raise unusable(connection, "it is in pipeline mode, which holds back the answers of a send")
    if connection.info.transaction_status is TransactionStatus.INERROR:
        raise is_after_a_failure(connection)


def _commits_each_statement(connection: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Whether a send of several statements needs a transaction of its own to be one step."""
    idle = connection.info.transaction_status is TransactionStatus.IDLE
    return connection.autocommit and idle
