"""Sends inside the caller's own transaction.

Nothing of the caller's is committed, rolled back, closed or set differently. Nor is there a
savepoint: a send that fails takes the caller's transaction with it, since rows that are committed
without their task are what `connection=` is there to prevent; and the send that succeeds, which is
nearly every one, would pay two round trips for it.
"""

import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from typing import Any, TypeVar, cast

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from horsies.adapters.postgres.foreign import (
    is_after_a_failure,
    needs_async_verb,
    needs_sync_verb,
    unknown_to_async,
    unknown_to_sync,
    unusable,
)
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Ask, Script, drive, drive_async

T = TypeVar("T")


def run_on_caller(connection: object, script: Script[T]) -> T:
    if isinstance(connection, Connection):
        return _run_on_psycopg(cast("Connection[Any]", connection), script)
    if isinstance(connection, AsyncConnection):
        raise needs_async_verb(cast("object", connection))
    if _comes_from("sqlalchemy", connection):
        from horsies.adapters.postgres import sqlalchemy_caller  # noqa: PLC0415 - it is optional

        return sqlalchemy_caller.run_on_sqlalchemy(connection, script)
    if _is_of_django(connection):
        from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - it is optional

        return django_caller.run_on_django(connection, script)
    raise unknown_to_sync(connection)


async def run_on_async_caller(connection: object, script: Script[T]) -> T:
    if isinstance(connection, AsyncConnection):
        return await _run_on_async_psycopg(cast("AsyncConnection[Any]", connection), script)
    if isinstance(connection, Connection):
        raise needs_sync_verb(cast("object", connection))
    if _comes_from("sqlalchemy", connection):
        from horsies.adapters.postgres import sqlalchemy_caller  # noqa: PLC0415 - it is optional

        return await sqlalchemy_caller.run_on_async_sqlalchemy(connection, script)
    if _is_of_django(connection):
        from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - it is optional

        return await django_caller.run_on_django_async(connection, script)
    raise unknown_to_async(connection)


def _comes_from(package: str, connection: object) -> bool:
    """Whether its class, or one that it extends, is defined there; the package is then loaded."""
    return any(kind.__module__.partition(".")[0] == package for kind in type(connection).__mro__)


def _is_of_django(connection: object) -> bool:
    """A text is an alias, where Django is in use at all."""
    if isinstance(connection, str):
        return "django" in sys.modules
    return _comes_from("django", connection)


def _run_on_psycopg(connection: Connection[Any], script: Script[T]) -> T:
    _expect_usable(connection)
    scope: AbstractContextManager[object] = (
        connection.transaction() if _commits_each_statement(connection) else nullcontext()
    )
    with scope, Cursor(connection, row_factory=tuple_row) as cursor:

        def execute(ask: Ask) -> Sequence[Row]:
            cursor.execute(ask.statement.encode(), ask.values)
            return cursor.fetchall() if ask.answers else ()

        return drive(script, execute)


async def _run_on_async_psycopg(connection: AsyncConnection[Any], script: Script[T]) -> T:
    _expect_usable(connection)
    scope: AbstractAsyncContextManager[object] = (
        connection.transaction() if _commits_each_statement(connection) else nullcontext()
    )
    async with scope, AsyncCursor(connection, row_factory=tuple_row) as cursor:

        async def execute(ask: Ask) -> Sequence[Row]:
            await cursor.execute(ask.statement.encode(), ask.values)
            return await cursor.fetchall() if ask.answers else ()

        return await drive_async(script, execute)


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
