"""One transaction on one connection."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.pq import TransactionStatus

from horsies.adapters.postgres.clock import DatabaseClock
from horsies.adapters.postgres.faults import translate, translated
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.pool import AsyncConnections
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.queue_store import PostgresQueueStore
from horsies.adapters.postgres.recovery_store import PostgresRecoveryStore
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.session import Session
from horsies.adapters.postgres.task_archive import PostgresTaskArchive
from horsies.adapters.postgres.task_store import PostgresTaskStore
from horsies.adapters.postgres.worker_store import PostgresWorkerStore
from horsies.application.ports.clock import Clock
from horsies.domain.errors import BrokerFault


@dataclass(frozen=True, slots=True)
class PostgresTransaction:
    tasks: PostgresTaskStore
    recovery: PostgresRecoveryStore
    workers: PostgresWorkerStore
    queues: PostgresQueueStore
    archive: PostgresTaskArchive


class PostgresUnitOfWork:
    """`clock` takes the place of the database's own in tests."""

    def __init__(
        self,
        link: Link,
        queries: Queries,
        connections: AsyncConnections,
        clock: Clock | None = None,
    ) -> None:
        self._link = link
        self._queries = queries
        self._connections = connections
        self.database_clock = DatabaseClock()
        self._begin = _begin(link)
        self.clock: Clock = clock or self.database_clock

    def __call__(self) -> AbstractAsyncContextManager[PostgresTransaction]:
        return self._transaction()

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[PostgresTransaction]:
        with translated():
            async with self._begun() as connection:
                try:
                    session = Session(connection, self._link, self._queries, self.clock)
                    yield PostgresTransaction(
                        PostgresTaskStore(session),
                        PostgresRecoveryStore(session),
                        PostgresWorkerStore(session),
                        PostgresQueueStore(session),
                        PostgresTaskArchive(session),
                    )
                    await session.commit()
                finally:
                    await _leave(connection)

    @asynccontextmanager
    async def _begun(self) -> AsyncGenerator[AsyncConnection[Row]]:
        """Nothing has happened yet, so a connection that turns out to be dead is exchanged."""
        for is_last_try in (False, True):
            async with self._connections.one() as connection:
                try:
                    await self._begin_on(connection)
                except psycopg.OperationalError as error:
                    if is_last_try or translate(error).fault is not BrokerFault.CONNECTION:
                        raise
                    await self._connections.mistrust_after(error)
                else:
                    yield connection
                    return

    async def _begin_on(self, connection: AsyncConnection[Row]) -> None:
        """And learn the time, in one round trip."""
        cursor = await connection.execute(self._begin)
        while cursor.nextset():
            pass
        row = await cursor.fetchone()
        if row is not None:
            self.database_clock.observe(row[0])


def _begin(link: Link) -> sql.Composed:
    return sql.SQL("; ").join(
        [
            sql.SQL("BEGIN ISOLATION LEVEL READ COMMITTED"),
            *(
                sql.SQL("SELECT set_config({}, {}, true)").format(name, value)
                for name, value in link.settings_of_transactions().items()
            ),
            sql.SQL("SELECT clock_timestamp()"),
        ]
    )


async def _leave(connection: AsyncConnection[Row]) -> None:
    """Whatever was not committed is undone; a connection in an unclear state is given up."""
    match connection.info.transaction_status:
        case TransactionStatus.IDLE:
            return
        case TransactionStatus.INTRANS | TransactionStatus.INERROR:
            await connection.rollback()
        case _:
            await connection.close()
