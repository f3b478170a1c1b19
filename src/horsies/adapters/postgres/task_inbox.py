"""Sends to PostgreSQL: on a connection of ours, or inside the caller's own transaction."""

from collections.abc import Sequence
from dataclasses import replace

from horsies.adapters.postgres.callers import run_on_async_caller, run_on_caller
from horsies.adapters.postgres.faults import translated
from horsies.adapters.postgres.pool import AsyncConnections, SyncConnections
from horsies.adapters.postgres.scripts import Script, run, run_async
from horsies.adapters.postgres.sending import SendScripts, is_plain
from horsies.application.ports.clock import Clock
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.sending import Batch, Receipt


class PostgresTaskInbox:
    """A send whose connection breaks is repeated once as a replay, which makes no second task.

    `clock` takes the place of the database's own in tests.
    """

    def __init__(
        self,
        scripts: SendScripts,
        sync: SyncConnections,
        asynchronous: AsyncConnections,
        clock: Clock | None = None,
    ) -> None:
        self._scripts = scripts
        self._sync = sync
        self._async = asynchronous
        self._clock = clock

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        if connection is not None:
            with translated():
                return run_on_caller(connection, self._script(batch))
        try:
            return self._accept(batch)
        except BrokerError as error:
            if error.fault is not BrokerFault.CONNECTION:
                raise
        self._sync.drop_dead_ones()
        return self._accept(replace(batch, replay=True))

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        if connection is not None:
            with translated():
                return await run_on_async_caller(connection, self._script(batch))
        try:
            return await self._accept_async(batch)
        except BrokerError as error:
            if error.fault is not BrokerFault.CONNECTION:
                raise
        await self._async.drop_dead_ones()
        return await self._accept_async(replace(batch, replay=True))

    def _accept(self, batch: Batch) -> Sequence[Receipt]:
        with translated(), self._sync.one() as connection:
            if is_plain(batch):
                return run(connection, self._script(batch))
            with connection.transaction():
                return run(connection, self._script(batch))

    async def _accept_async(self, batch: Batch) -> Sequence[Receipt]:
        with translated():
            async with self._async.one() as connection:
                if is_plain(batch):
                    return await run_async(connection, self._script(batch))
                async with connection.transaction():
                    return await run_async(connection, self._script(batch))

    def _script(self, batch: Batch) -> Script[list[Receipt]]:
        return self._scripts.accept(batch, self._clock.now() if self._clock else None)
