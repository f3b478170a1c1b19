"""Connections kept ready: asynchronous ones for the engine, plain ones for senders.

A pool cannot say why it has no connection to give: the server may be away, or all may be in use.
So the first one is made by hand, and one more where the pool gave up; their errors speak.

Connections to what is a standby now are given up: new ones may lead to the new primary.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from threading import Lock
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.errors import ReadOnlySqlTransaction, error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.rows import Row

WAIT_FOR_CONNECTION_SECONDS = 10.0

_NAME = b"horsies_send"


class AsyncConnections:
    """They belong to the loop that first asks for one."""

    def __init__(self, link: Link) -> None:
        self._conninfo = link.conninfo("engine")
        self._pool: AsyncConnectionPool[AsyncConnection[Row]] = AsyncConnectionPool(
            self._conninfo, connection_class=AsyncConnection[Row], **_options(link)
        )
        self._opening = asyncio.Lock()
        self._opened = False

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[AsyncConnection[Row]]:
        if not self._opened:
            await self._open()
        try:
            connection = await self._pool.getconn()
        except PoolTimeout:
            await self._knock()
            raise
        try:
            yield connection
        except ReadOnlySqlTransaction as error:
            await self.mistrust_after(error)
            raise
        finally:
            await self._pool.putconn(connection)

    async def _open(self) -> None:
        async with self._opening:
            if not self._opened:
                await self._knock()
                await self._pool.open()
                self._opened = True

    async def _knock(self) -> None:
        await (await AsyncConnection.connect(self._conninfo)).close()

    async def mistrust_after(self, error: psycopg.Error) -> None:
        """What befell one connection has mostly befallen all that are kept ready."""
        if isinstance(error, ReadOnlySqlTransaction):
            await self._pool.drain()
        else:
            await self._pool.check()

    async def close(self) -> None:
        await self._pool.close()


class SenderConnection(Connection[Row]):
    """One on which a single statement is asked again and again, without a cursor's book-keeping.

    Cursors find out each time how their values are written and whether the statement is prepared,
    which takes longer than all the rest of a send that happens on this side of the line.
    """

    _sends_by: tuple[bytes, str] | None = None
    """The statement, and the encoding of this session."""

    def send_one(
        self, statement: bytes, values: Sequence[str | None], formats: Sequence[Format]
    ) -> None:
        """A text in binary format cannot be cut short by what is in it."""
        with self.lock:
            if self._sends_by is None or self._sends_by[0] != statement:
                self._ask(self.pgconn.send_prepare, _NAME, statement)
                self._sends_by = statement, self.info.encoding
            encoding = self._sends_by[1]
            encoded = [None if value is None else value.encode(encoding) for value in values]
            self._ask(self.pgconn.send_query_prepared, _NAME, encoded, formats)

    def _ask(self, ask: Callable[..., None], *about: object) -> None:
        ask(*about)
        (answer,) = self.wait(execute(self.pgconn))
        if answer.status != ExecStatus.COMMAND_OK:
            raise error_from_result(answer, encoding=self.info.encoding)


class SyncConnections:
    def __init__(self, link: Link) -> None:
        self._conninfo = link.conninfo("producer")
        self._pool: ConnectionPool[SenderConnection] = ConnectionPool(
            self._conninfo, connection_class=SenderConnection, **_options(link)
        )
        self._opening = Lock()
        self._opened = False

    @contextmanager
    def one(self) -> Generator[SenderConnection]:
        if not self._opened:
            self._open()
        try:
            connection = self._pool.getconn()
        except PoolTimeout:
            self._knock()
            raise
        try:
            yield connection
        except ReadOnlySqlTransaction as error:
            self.mistrust_after(error)
            raise
        finally:
            self._pool.putconn(connection)

    def _open(self) -> None:
        with self._opening:
            if not self._opened:
                self._knock()
                self._pool.open()
                self._opened = True

    def _knock(self) -> None:
        Connection.connect(self._conninfo).close()

    def mistrust_after(self, error: psycopg.Error) -> None:
        if isinstance(error, ReadOnlySqlTransaction):
            self._pool.drain()
        else:
            self._pool.check()

    def close(self) -> None:
        self._pool.close()


def _options(link: Link) -> dict[str, Any]:
    return {
        "kwargs": {
            "autocommit": True,
            "prepare_threshold": 5 if link.session_settings else None,
        },
        "min_size": link.pool_min_size,
        "max_size": link.pool_max_size,
        "open": False,
        "timeout": WAIT_FOR_CONNECTION_SECONDS,
        "num_workers": 1,
    }
