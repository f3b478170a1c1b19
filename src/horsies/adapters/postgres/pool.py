"""Connections kept ready: asynchronous ones for the engine, plain ones for senders."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from threading import Lock
from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.rows import Row

WAIT_FOR_CONNECTION_SECONDS = 10.0


class AsyncConnections:
    """They belong to the loop that first asks for one."""

    def __init__(self, link: Link) -> None:
        self._pool: AsyncConnectionPool[AsyncConnection[Row]] = AsyncConnectionPool(
            link.conninfo("engine"), connection_class=AsyncConnection[Row], **_options(link)
        )
        self._opening = asyncio.Lock()
        self._opened = False

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[AsyncConnection[Row]]:
        if not self._opened:
            async with self._opening:
                await self._pool.open()
                self._opened = True
        connection = await self._pool.getconn()
        try:
            yield connection
        finally:
            await self._pool.putconn(connection)

    async def drop_dead_ones(self) -> None:
        """After a restart of the server every connection that is kept ready is dead."""
        await self._pool.check()

    async def close(self) -> None:
        await self._pool.close()


class SyncConnections:
    def __init__(self, link: Link) -> None:
        self._pool: ConnectionPool[Connection[Row]] = ConnectionPool(
            link.conninfo("producer"), connection_class=Connection[Row], **_options(link)
        )
        self._opening = Lock()
        self._opened = False

    @contextmanager
    def one(self) -> Generator[Connection[Row]]:
        if not self._opened:
            with self._opening:
                self._pool.open()
                self._opened = True
        connection = self._pool.getconn()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

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
