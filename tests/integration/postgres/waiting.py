"""Seeing from outside what other sessions have come to."""

import asyncio

WAITERS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
LOCKS_ON_TASKS = "SELECT count(*) FROM pg_locks WHERE relation = 'horsies_tasks'::regclass"


async def until_waiting(onlooker):
    """Somebody waits for another's lock."""
    await until(onlooker, WAITERS, 1)


async def until_nobody_holds_a_task(onlooker):
    await until(onlooker, LOCKS_ON_TASKS, 0)


async def until(onlooker, query, count):
    while onlooker.execute(query).fetchone() != (count,):  # noqa: ASYNC110 - a server has no event
        await asyncio.sleep(0.005)
