"""What the laws of waiting are played with: completions, ends and announcements."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any
from uuid import uuid4

from psycopg import AsyncConnection

from horsies.adapters.postgres.clock import DatabaseClock
from horsies.adapters.postgres.completions import PostgresCompletions
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.session import Session
from horsies.application.ports.completions import Completions, CompletionWatch
from horsies.domain.ids import TaskId
from tests.postgres import link_to

NEVER = 3600.0
"""A poll that does not come within a test."""

PATIENCE_SECONDS = 30.0

LISTENERS = "FROM pg_stat_activity WHERE application_name = 'horsies listener'"
LISTENERS += " AND datname = current_database()"


async def until(condition: Callable[[], Any]) -> None:
    """Asked again and again, as what is asked for comes from another process or thread."""
    while True:
        answer = condition()
        if await answer if isawaitable(answer) else answer:
            return
        await asyncio.sleep(0.01)


def new_ids(count: int) -> list[TaskId]:
    return [TaskId(uuid4()) for _ in range(count)]


@asynccontextmanager
async def completions_on(link: Link, **intervals: float) -> AsyncGenerator[PostgresCompletions]:
    completions = PostgresCompletions(link, Queries(link.schema), **intervals)
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            yield completions
        finally:
            await completions.aclose()


class Database:
    """The same database from outside."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.link = link_to(dsn)

    async def execute(self, statement: str, *values: Any) -> list[Any]:
        async with await AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def end_quietly(self, *ids: TaskId) -> None:
        """Ended, and announced to nobody."""
        await self.execute(
            "INSERT INTO horsies_task_history (id, task_name, queue_name, args, priority, sent_at,"
            " enqueued_at, status, epoch, attempt, retries, crashes, finished_at)"
            " SELECT id, 'job', 'default', '{}', 50, now(), now(), 'COMPLETED', 1, 1, 0, 0, now()"
            " FROM unnest(%s::uuid[]) AS id",
            list(ids),
        )

    async def announce(self, ids: Iterable[TaskId]) -> None:
        """As a transaction that has ended them does; what is announced need not be true."""
        async with await AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            await connection.execute("BEGIN")
            session = Session(connection, self.link, Queries("public"), DatabaseClock())
            session.announce_end(ids)
            await session.commit()

    async def notify(self, payload: str) -> None:
        await self.execute("SELECT pg_notify(%s, %s)", self.link.done_channel, payload)

    async def listeners(self) -> list[int]:
        return [pid for (pid,) in await self.execute(f"SELECT pid {LISTENERS}")]

    async def kill_listeners(self) -> None:
        await self.execute(f"SELECT pg_terminate_backend(pid, 5000) {LISTENERS}")

    async def until_heard(self) -> None:
        """Until somebody LISTENs and has looked for what ended before."""
        looked = "state = 'idle' AND query LIKE '%%horsies_task_history%%'"
        await until(lambda: self.execute(f"SELECT pid {LISTENERS} AND {looked}"))

    async def until_nobody_listens(self) -> None:
        await until(lambda: self.execute(f"SELECT 1 WHERE NOT EXISTS (SELECT {LISTENERS})"))


async def wait_for(completions: Completions, *ids: TaskId) -> bool:
    with completions.watch(ids) as watch:
        return await watch.wait(None)


async def rung(*watches: CompletionWatch) -> list[bool]:
    """Which of them have been rung by now."""
    return [await watch.wait(0) for watch in watches]
