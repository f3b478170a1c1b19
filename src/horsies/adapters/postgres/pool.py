"""Connections kept ready for the engine.

A pool cannot say why it has no connection to give: the server may be away, or all may be in use.
So the first one is made by hand, and one more where the pool gave up; their errors speak.

Connections to what is a standby now are given up: new ones may lead to the new primary.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.errors import ReadOnlySqlTransaction
from psycopg_pool import AsyncConnectionPool, PoolTimeout

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
        self._in_doubt = False

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[AsyncConnection[Row]]:
        if not self._opened:
            await self._open()
        if self._in_doubt:  # the pool would wait, and could not say for what
            await self._knock()
            self._in_doubt = False
        try:
            connection = await self._pool.getconn()
        except PoolTimeout:
            self._in_doubt = True
            await self._knock()
            raise
        try:
            yield connection
        except ReadOnlySqlTransaction as error:
            await self.mistrust_after(error)
            raise
        finally:
            self._in_doubt = self._in_doubt or connection.closed
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
