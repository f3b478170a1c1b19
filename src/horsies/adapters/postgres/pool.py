"""Connections kept ready: asynchronous ones for the engine, plain ones for senders.

A pool cannot say why it has no connection to give: the server may be away, or all may be in use.
So the first one is made by hand, and one more where the pool gave up; their errors speak.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from threading import Lock
from typing import Any

from psycopg import AsyncConnection, Connection, RawCursor
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.rows import Row

WAIT_FOR_CONNECTION_SECONDS = 10.0


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

    async def drop_dead_ones(self) -> None:
        """After a restart of the server every connection that is kept ready is dead."""
        await self._pool.check()

    async def close(self) -> None:
        await self._pool.close()


class SenderConnection(Connection[Row]):
    """Making a cursor takes a tenth of the time of a send, so one is kept."""

    @cached_property
    def cursor_of_sends(self) -> RawCursor[Row]:
        return RawCursor(self)


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

    def drop_dead_ones(self) -> None:
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
