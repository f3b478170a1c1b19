"""Announcements are hints: sends and settles do without them, and never fail because of them."""

import psycopg
import pytest

from horsies.adapters.postgres.session import IDS_PER_NOTIFICATION
from horsies.domain.outcome import Complete, RetryAt
from horsies.domain.sending import Batch
from horsies.domain.settlement import Settlement
from tests.contract.conftest import postgres_world


@pytest.fixture
def dsn(own_dsn):
    return own_dsn


@pytest.fixture
def listener(dsn):
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("LISTEN horsies_task_new")
        connection.execute("LISTEN horsies_task_done")
        yield connection


def heard(listener, channel):
    """All that was announced up to now: the end is announced by ourselves."""
    with psycopg.connect(listener.info.dsn, autocommit=True) as other:
        other.execute("NOTIFY horsies_task_new, 'end of test'")
    payloads = []
    for notification in listener.notifies():
        if notification.payload == "end of test":
            return payloads
        if notification.channel == channel:
            payloads.append(notification.payload)
    raise AssertionError("the line is closed")


async def test_a_batch_is_announced_once_a_queue(world, listener):
    tasks = [world.new_task(queue=queue) for queue in ("a", "b", "a", "b")]
    world.inbox.accept(Batch(tasks=tasks))
    assert sorted(heard(listener, "horsies_task_new")) == ["a", "b"]


async def test_a_large_batch_is_announced_once(world, listener):
    world.inbox.accept(Batch(tasks=[world.new_task() for _ in range(250)]))
    assert heard(listener, "horsies_task_new") == ["default"]


async def test_what_is_rolled_back_is_not_announced(dsn, world, listener):
    with psycopg.connect(dsn) as caller:
        world.inbox.accept(Batch(tasks=[world.new_task()]), caller)
        caller.rollback()
    assert heard(listener, "horsies_task_new") == []


async def test_a_return_to_the_queue_is_announced_to_claimers(world, listener):
    world.send()
    running = await world.claim_one()
    assert heard(listener, "horsies_task_new") == ["default"]
    await world.settle(running, RetryAt(world.now(), "BOOM"))
    assert heard(listener, "horsies_task_new") == ["default"]


async def test_the_ends_of_a_large_batch_fit_into_their_announcements(world, listener):
    tasks = [world.new_task() for _ in range(2 * IDS_PER_NOTIFICATION + 1)]
    world.inbox.accept(Batch(tasks=tasks))
    settlements = [Settlement(task.claim, Complete()) for task in await world.claim(1000)]
    async with world.unit_of_work() as tx:
        await tx.tasks.settle(settlements)
    payloads = heard(listener, "horsies_task_done")
    assert len(payloads) == 3
    assert {word for payload in payloads for word in payload.split()} == {t.id.hex for t in tasks}


async def test_an_engine_that_is_to_be_quiet_announces_nothing(dsn, listener):
    async with postgres_world(dsn, notify=False) as world:
        world.send()
        await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"))
        await world.settle(await world.claim_one())
    assert heard(listener, "horsies_task_new") == []
    assert heard(listener, "horsies_task_done") == []


async def test_sends_go_on_without_the_trigger(world, onlooker):
    onlooker.execute("DROP TRIGGER horsies_announce_tasks ON horsies_tasks")
    task_id = world.send()
    assert [task.id for task in await world.claim()] == [task_id]


async def test_sends_go_on_without_the_trigger_s_function(world, onlooker):
    onlooker.execute("DROP FUNCTION horsies_announce_tasks() CASCADE")
    task_id = world.send()
    assert [task.id for task in await world.claim()] == [task_id]
