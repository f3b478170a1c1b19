"""Sends to PostgreSQL: on a connection of ours, or inside the caller's own transaction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import psycopg
from psycopg import AsyncConnection

from horsies.adapters.postgres.callers import run_on_async_caller, run_on_caller
from horsies.adapters.postgres.faults import is_worth_a_replay, translated
from horsies.adapters.postgres.pool import AsyncConnections
from horsies.adapters.postgres.quick_sends import QuickSends
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Script, run, run_async
from horsies.adapters.postgres.senders import SenderConnection, SenderConnections
from horsies.adapters.postgres.sending import SendScripts
from horsies.application.ports.clock import Clock
from horsies.domain.sending import Accepted, Batch, Receipt


class PostgresTaskInbox:
    """A send that is lost or undone is repeated once as a replay, which makes no second task.

    `foreign_scripts` are for callers' connections, which carry no settings of ours; `quick` is for
    ours, where sessions have them. `clock` takes the place of the database's own in tests.
    """

    def __init__(
        self,
        scripts: SendScripts,
        foreign_scripts: SendScripts,
        quick: QuickSends | None,
        connections: SenderConnections,
        async_connections: AsyncConnections,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._scripts = scripts
        self._foreign_scripts = foreign_scripts
        self._quick = quick
        self._own = connections
        self._own_async = async_connections
        self._clock = clock

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        if connection is not None:
            with translated():
                return run_on_caller(connection, self._foreign_script(batch))
        with translated():
            mine = self._own.lend()
            try:
                return self._accept_on(mine, batch)
            except psycopg.Error as error:
                if not is_worth_a_replay(error):
                    raise
            return self._accept_on(self._own.lend(), replace(batch, replay=True))

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        if connection is not None:
            with translated():
                return await run_on_async_caller(connection, self._foreign_script(batch))
        with translated():
            async with self._own_async.one() as mine:
                try:
                    return await self._accept_async(mine, batch)
                except psycopg.Error as error:
                    if not is_worth_a_replay(error):
                        raise
                    await self._own_async.mistrust_after(error)
            async with self._own_async.one() as mine:
                return await self._accept_async(mine, replace(batch, replay=True))

    def _accept_on(self, connection: SenderConnection, batch: Batch) -> Sequence[Receipt]:
        try:
            return self._accept(connection, batch)
        except psycopg.Error as error:
            if is_worth_a_replay(error):  # not on this one, nor on others that may be like it
                connection.close()
                self._own.mistrust_all()
            raise
        finally:
            self._own.take_back(connection)

    def _accept(self, connection: SenderConnection, batch: Batch) -> Sequence[Receipt]:
        if self._quick is not None and self._quick.take(batch):
            self._quick.run(connection, batch.tasks, self._now())
            return [Accepted(task.id) for task in batch.tasks]
        script = self._scripts.accept(batch, self._now())
        if self._scripts.is_one_statement(batch):
            return run(connection, script)
        with connection.transaction():
            return run(connection, script)

    async def _accept_async(
        self, connection: AsyncConnection[Row], batch: Batch
    ) -> Sequence[Receipt]:
        if self._quick is not None and self._quick.take(batch):
            await self._quick.run_async(connection, batch.tasks, self._now())
            return [Accepted(task.id) for task in batch.tasks]
        script = self._scripts.accept(batch, self._now())
        if self._scripts.is_one_statement(batch):
            return await run_async(connection, script)
        async with connection.transaction():
            return await run_async(connection, script)

    def _foreign_script(self, batch: Batch) -> Script[list[Receipt]]:
        return self._foreign_scripts.accept(batch, self._now())

    def _now(self) -> datetime | None:
        return self._clock.now() if self._clock else None
