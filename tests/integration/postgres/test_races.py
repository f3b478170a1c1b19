"""Two transactions at once on one task: the first to commit wins, the second is told."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from horsies.domain.cancellation import CancelAnswer
from horsies.domain.outcome import Complete, Fail, GiveBack, RetryAt
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus
from tests.integration.postgres.waiting import until_waiting

ERR = b'{"err":{"error_code":"BOOM"}}'


class Undo(Exception):  # noqa: N818 - a test's own signal
    pass


@pytest.fixture
async def world(patient_world):
    return patient_world


async def cancel(world, task_id):
    async with world.unit_of_work() as tx:
        return (await tx.tasks.cancel([task_id]))[task_id]


async def start(world, claim):
    async with world.unit_of_work() as tx:
        return await tx.tasks.start([claim])


@asynccontextmanager
async def open_settle(world, task, verdict, *, undone=False):
    """A settle that is written within the block and committed, or undone, at its end."""
    with suppress(Undo):
        async with world.unit_of_work() as tx:
            await tx.tasks.settle([Settlement(task.claim, verdict, b"{}")])
            yield
            if undone:
                raise Undo


@asynccontextmanager
async def open_cancel(world, task):
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task.id])
        yield


async def test_a_cancel_that_comes_during_a_completion_comes_too_late(world, onlooker):
    world.send()
    running = await world.claim_one()
    async with open_settle(world, running, Complete()):
        cancelling = asyncio.create_task(cancel(world, running.id))
        await until_waiting(onlooker)
    assert await cancelling is CancelAnswer.ALREADY_TERMINAL
    assert (await world.find(running.id)).status is TaskStatus.COMPLETED


async def test_a_cancel_that_comes_during_an_undone_completion_is_heard(world, onlooker):
    world.send()
    running = await world.claim_one()
    async with open_settle(world, running, Complete(), undone=True):
        cancelling = asyncio.create_task(cancel(world, running.id))
        await until_waiting(onlooker)
    assert await cancelling is CancelAnswer.REQUESTED


async def test_a_completion_that_comes_during_a_cancel_request_stands(world, onlooker):
    world.send()
    running = await world.claim_one()
    async with open_cancel(world, running):
        settling = asyncio.create_task(world.settle(running))
        await until_waiting(onlooker)
    assert not (await settling).lost
    ended = await world.find(running.id)
    assert (ended.status, ended.cancel_requested_at) == (TaskStatus.COMPLETED, world.now())


@pytest.mark.parametrize("kind", ["retry", "give back"])
async def test_a_return_to_the_queue_that_comes_during_a_cancel_request_yields(
    world, onlooker, kind
):
    world.send()
    running = await world.claim_one()
    verdict = RetryAt(world.now(), "BOOM") if kind == "retry" else GiveBack()
    async with open_cancel(world, running):
        settling = asyncio.create_task(world.settle(running, verdict, ERR))
        await until_waiting(onlooker)
    assert list((await settling).cancel_requested) == [running.claim]


async def test_a_cancel_that_comes_during_a_retry_cancels_what_waits(world, onlooker):
    world.send()
    running = await world.claim_one()
    async with open_settle(world, running, RetryAt(world.now(), "BOOM")):
        cancelling = asyncio.create_task(cancel(world, running.id))
        await until_waiting(onlooker)
    assert await cancelling is CancelAnswer.CANCELLED
    assert await world.claim() == []


async def test_a_start_that_comes_during_a_cancel_does_not_happen(world, onlooker):
    world.send()
    claimed = await world.claim_one(start=False)
    async with open_cancel(world, claimed):
        starting = asyncio.create_task(start(world, claimed.claim))
        await until_waiting(onlooker)
    assert await starting == []
    assert (await world.find(claimed.id)).status is TaskStatus.CANCELLED


async def test_a_cancel_that_comes_during_a_start_becomes_a_request(world, onlooker):
    world.send()
    claimed = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        await tx.tasks.start([claimed.claim])
        cancelling = asyncio.create_task(cancel(world, claimed.id))
        await until_waiting(onlooker)
    assert await cancelling is CancelAnswer.REQUESTED


async def test_a_zombie_that_settles_while_it_is_reaped_has_lost(world, onlooker):
    world.send()
    zombie = await world.claim_one()
    async with world.unit_of_work() as tx:
        (stale,) = await tx.recovery.stale_running(world.now(), None, 10)
        settling = asyncio.create_task(world.settle(zombie))
        await until_waiting(onlooker)
        await tx.tasks.settle([Settlement(stale.claim, RetryAt(world.now(), "WORKER_CRASHED"))])
    assert list((await settling).lost) == [zombie.claim]
    assert (await world.find(zombie.id)).status is TaskStatus.PENDING


async def test_a_reaper_passes_over_what_is_being_settled(world):
    world.send()
    running = await world.claim_one()
    async with open_settle(world, running, Complete()), world.unit_of_work() as tx:
        assert await tx.recovery.stale_running(world.now(), None, 10) == []


async def test_a_reaper_that_saw_an_old_state_writes_nothing(world):
    world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        (stale,) = await tx.recovery.stale_running(world.now(), None, 10)
    await world.settle(running)
    before = await world.find(running.id)
    report = await world.settle(stale, Fail("WORKER_CRASHED"), ERR, crashed=True)
    assert [*report.lost, *report.repeated] == [running.claim]
    assert await world.find(running.id) == before
    assert (await world.find(running.id)).status is TaskStatus.COMPLETED


async def test_a_release_of_a_claim_that_was_reaped_and_taken_again_does_nothing(world):
    world.send()
    stale = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        assert await tx.tasks.release([stale.claim]) == 1
    heir = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        assert await tx.tasks.release([stale.claim]) == 0
    assert await world.find(heir.id) == heir


async def test_two_who_reap_at_once_share_the_work(world):
    for _ in range(4):
        world.send()
    await world.claim()
    async with world.unit_of_work() as one:
        first = await one.recovery.stale_running(world.now(), None, 2)
        async with world.unit_of_work() as other:
            second = await other.recovery.stale_running(world.now(), None, 10)
    assert len({task.id for task in [*first, *second]}) == len(first) + len(second) == 4


async def test_of_two_settles_at_once_exactly_one_is_written(world, onlooker):
    for _ in range(5):
        world.send()
    settlements = [Settlement(task.claim, Complete(), b"{}") for task in await world.claim()]

    async def settle_all():
        async with world.unit_of_work() as tx:
            return await tx.tasks.settle(settlements)

    async with world.unit_of_work() as tx:
        first = await tx.tasks.settle(settlements)
        settling = asyncio.create_task(settle_all())
        await until_waiting(onlooker)
    second = await settling
    assert (first.lost, first.repeated) == ((), ())
    assert list(second.repeated) == [settlement.claim for settlement in settlements]
    assert onlooker.execute("SELECT count(*) FROM horsies_task_history").fetchone() == (5,)
