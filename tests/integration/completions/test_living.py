"""When the listener begins, where it lives, and when it ends."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from horsies.adapters.postgres.completions import PostgresCompletions
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import Queries
from horsies.domain.errors import BrokerError, BrokerFault
from tests.integration.completions.scene import (
    NEVER,
    PATIENCE_SECONDS,
    Database,
    completions_on,
    new_ids,
    until,
    wait_for,
)
from tests.postgres import link_to


def completions_for(link: Link, **intervals: float) -> PostgresCompletions:
    return PostgresCompletions(link, Queries(link.schema), **intervals)


async def test_closing_leaves_no_connection_and_no_task_behind(database: Database):
    async with completions_on(link_to(database.dsn)) as completions:
        with completions.watch(new_ids(1)):
            await database.until_heard()
        await completions.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await database.until_nobody_listens()


async def test_closing_while_connecting_leaves_nothing_behind(database: Database):
    async with completions_on(link_to(database.dsn)) as completions:
        with completions.watch(new_ids(1)):
            await asyncio.sleep(0)
        await completions.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await database.until_nobody_listens()


async def test_what_was_never_used_can_be_closed_twice(database: Database):
    completions = completions_for(link_to(database.dsn))
    await completions.aclose()
    await completions.aclose()


async def test_closing_wakes_those_who_wait_and_tells_them(database: Database):
    async with completions_on(link_to(database.dsn)) as completions:
        with completions.watch(new_ids(1)) as watch:
            waiting = asyncio.ensure_future(watch.wait(None))
            await database.until_heard()
            await completions.aclose()
            assert await waiting
            with pytest.raises(BrokerError) as told:
                await watch.wait(None)
            assert told.value.fault is BrokerFault.CLOSED
        await database.until_nobody_listens()


async def test_the_connection_is_given_up_when_nobody_has_waited_for_a_while(database: Database):
    link = link_to(database.dsn, poll_seconds=0.05)
    async with completions_on(link, linger_seconds=0.1) as completions:
        for task_id in new_ids(2):
            with completions.watch([task_id]) as watch:
                await database.until_heard()
                await database.end_quietly(task_id)
                assert await watch.wait(None)
            await database.until_nobody_listens()


async def test_the_connection_is_kept_for_those_who_wait_next(database: Database):
    async with completions_on(link_to(database.dsn, poll_seconds=0.05)) as completions:
        with completions.watch(new_ids(1)):
            await database.until_heard()
            before = await database.listeners()
        assert not await wait_briefly(completions)
        assert await database.listeners() == before


async def wait_briefly(completions: PostgresCompletions) -> bool:
    with completions.watch(new_ids(1)) as watch:
        return await watch.wait(0.2)


async def test_who_waits_on_another_threads_loop_is_woken(database: Database):
    here, there = new_ids(2)
    async with completions_on(link_to(database.dsn, poll_seconds=NEVER)) as completions:
        with completions.watch([here]) as watch, ThreadPoolExecutor() as threads:
            waiting = asyncio.get_running_loop().run_in_executor(
                threads, asyncio.run, wait_for(completions, there)
            )
            await database.until_heard()
            await until(lambda: there in completions._watches.watched())
            await database.announce([there, here])
            assert await waiting
            assert await watch.wait(None)
            assert len(await database.listeners()) == 1


async def test_who_waits_takes_over_when_the_loop_that_listened_has_ended(database: Database):
    first, second = new_ids(2)
    link = link_to(database.dsn, poll_seconds=NEVER)
    async with completions_on(link, check_seconds=0.05) as completions:
        with ThreadPoolExecutor() as threads:
            elsewhere = asyncio.get_running_loop().run_in_executor(
                threads, asyncio.run, wait_for(completions, first)
            )
            await database.until_heard()
            waiting = asyncio.ensure_future(wait_for(completions, second))
            await asyncio.sleep(0)
            await database.announce([first])
            assert await elsewhere
            await database.end_quietly(second)
            assert await waiting


async def test_one_loop_may_close_what_another_listens_for(database: Database):
    async with completions_on(link_to(database.dsn)) as completions:
        with ThreadPoolExecutor() as threads:
            elsewhere = asyncio.get_running_loop().run_in_executor(
                threads, asyncio.run, wait_for(completions, *new_ids(1))
            )
            await database.until_heard()
            await completions.aclose()
            assert await elsewhere
        await database.until_nobody_listens()


async def end_and_wait(completions: PostgresCompletions, database: Database) -> bool:
    (task_id,) = new_ids(1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            await database.end_quietly(task_id)
            return await watch.wait(None)


def test_a_new_loop_gets_a_new_listener(database: Database):
    completions = completions_for(link_to(database.dsn, poll_seconds=0.1))
    assert asyncio.run(end_and_wait(completions, database))
    asyncio.run(database.until_nobody_listens())
    assert asyncio.run(end_and_wait(completions, database))


def test_a_loop_that_stands_still_is_not_relied_on(database: Database):
    completions = completions_for(link_to(database.dsn, poll_seconds=0.1))
    with asyncio.Runner() as still, asyncio.Runner() as other:
        assert still.run(end_and_wait(completions, database))
        assert other.run(end_and_wait(completions, database))
        still.run(asyncio.sleep(0.01))
        assert not asyncio.all_tasks(still.get_loop())  # two would listen when it goes on
        other.run(completions.aclose())


mine: ContextVar[str] = ContextVar("mine")


class NosyQueries(Queries):
    """Notes in whose name it is asked."""

    asked_by: str | None = "nobody yet"

    def __call__(self, name: str) -> str:
        self.asked_by = mine.get(None)
        return super().__call__(name)


async def test_the_listener_keeps_nothing_of_the_first_who_waited(database: Database):
    mine.set("a request's own")
    queries = NosyQueries("public")
    completions = PostgresCompletions(link_to(database.dsn), queries)
    with completions.watch(new_ids(1)):
        await database.until_heard()
    await completions.aclose()
    assert queries.asked_by is None
