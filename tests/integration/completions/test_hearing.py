"""Announcements wake, and looking finds what was not announced."""

import asyncio

import pytest

from tests.integration.completions.line import Line
from tests.integration.completions.scene import (
    NEVER,
    Database,
    completions_on,
    new_ids,
    rung,
    wait_for,
)
from tests.postgres import link_to


async def test_an_announced_end_wakes_exactly_those_who_wait_for_it(database: Database):
    ended, other = new_ids(2)
    async with completions_on(link_to(database.dsn, poll_seconds=NEVER)) as completions:
        with (
            completions.watch([ended]) as first,
            completions.watch([other, ended]) as second,
            completions.watch([other]) as third,
        ):
            await database.until_heard()
            await database.announce([ended])
            assert await first.wait(None)
            assert await second.wait(None)
            assert await rung(first, second, third) == [False, False, False]


async def test_a_schema_of_ones_own_has_announcements_of_its_own(database: Database):
    (task_id,) = new_ids(1)
    await database.execute('CREATE SCHEMA "Ours"')
    await database.execute('CREATE TABLE "Ours".horsies_task_history (id uuid)')
    link = link_to(database.dsn, poll_seconds=NEVER, schema="Ours")
    async with completions_on(link) as completions:
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            await database.announce([task_id])
            await database.execute(f"NOTIFY \"{link.done_channel}\", '{task_id.hex}'")
            assert await watch.wait(None)
            assert await rung(watch) == [False]


async def test_an_end_whose_announcement_was_lost_is_found_by_looking(database: Database):
    (task_id,) = new_ids(1)
    async with completions_on(link_to(database.dsn, poll_seconds=0.1)) as completions:
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            await database.end_quietly(task_id)
            assert await watch.wait(None)


async def test_an_end_before_the_listener_listens_is_found(database: Database, line: Line):
    (task_id,) = new_ids(1)
    async with completions_on(link_to(line.dsn, poll_seconds=NEVER)) as completions:
        with completions.watch([task_id]) as watch:
            await database.end_quietly(task_id)
            await database.announce([task_id])
            await line.open()
            assert await watch.wait(None)


async def test_without_notify_ends_are_found_by_looking_alone(database: Database, line: Line):
    (task_id,) = new_ids(1)
    await line.open()
    link = link_to(line.dsn, listen_dsn="host=/nowhere", notify=False, poll_seconds=NEVER)
    async with completions_on(link) as completions:
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            await database.end_quietly(task_id)
            assert await watch.wait(None)
    assert not any(b"LISTEN" in call.said for call in line.calls)


async def test_a_thousand_waiters_share_one_connection_and_one_look(database: Database, line: Line):
    ids = new_ids(1000)
    await line.open()
    async with completions_on(link_to(line.dsn, poll_seconds=NEVER)) as completions:
        waiting = [asyncio.ensure_future(wait_for(completions, task_id)) for task_id in ids]
        await database.until_heard()
        await asyncio.sleep(0.1)
        assert len(await database.listeners()) == 1
        await database.announce(ids)
        assert all(await asyncio.gather(*waiting))
    (call,) = line.calls
    assert call.said.count(b"horsies_task_history") <= 3  # it looks soon again after the first


async def test_a_wait_that_is_over_is_over(database: Database):
    async with completions_on(link_to(database.dsn), check_seconds=0.01) as completions:
        with completions.watch(new_ids(1)) as watch:
            assert not await watch.wait(0.1)
            assert not await watch.wait(0)


@pytest.mark.parametrize(
    "garbage",
    ["", " ", "no id", "🐎", "0" * 31, "g" * 32, "9" * 7000, "{" + "0" * 32 + "}", "' ; DROP"],
)
async def test_garbage_does_no_harm(database: Database, garbage: str):
    (task_id,) = new_ids(1)
    async with completions_on(link_to(database.dsn, poll_seconds=NEVER)) as completions:
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            before = await database.listeners()
            await database.notify(garbage)
            await database.notify(f"{garbage} {task_id.hex}")
            assert await watch.wait(None)
            assert await database.listeners() == before
