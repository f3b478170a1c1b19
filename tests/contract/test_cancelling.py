"""Cancelling: at once before the start, by request after it, never after the end."""

from horsies.domain.cancellation import CancelAnswer
from horsies.domain.ids import TaskId
from horsies.domain.outcome import Complete
from horsies.domain.task_lifecycle import TaskStatus


async def cancel(world, task_id):
    async with world.unit_of_work() as tx:
        return (await tx.tasks.cancel([task_id]))[task_id]


async def test_a_pending_task_is_cancelled_at_once(world):
    task_id = world.send()
    assert await cancel(world, task_id) is CancelAnswer.CANCELLED
    assert (await world.find(task_id)).status is TaskStatus.CANCELLED
    assert await world.claim() == []


async def test_a_claimed_task_is_cancelled_and_its_claim_is_lost(world):
    world.send()
    claimed = await world.claim_one(start=False)
    assert await cancel(world, claimed.id) is CancelAnswer.CANCELLED
    async with world.unit_of_work() as tx:
        assert await tx.tasks.start([claimed.claim]) == []


async def test_a_running_task_is_asked_and_its_owner_hears_of_it(world):
    world.send()
    running = await world.claim_one()
    assert await cancel(world, running.id) is CancelAnswer.REQUESTED
    answer = await world.beat(running=[running.claim])
    assert answer.cancel_requested == {running.claim}


async def test_the_time_of_the_first_request_stands(world):
    world.send()
    running = await world.claim_one()
    await cancel(world, running.id)
    first = world.now()
    world.pass_time(seconds=5)
    await cancel(world, running.id)
    assert (await world.find(running.id)).cancel_requested_at == first


async def test_a_normal_return_stands_after_a_request(world):
    world.send()
    running = await world.claim_one()
    await cancel(world, running.id)
    await world.settle(running, Complete())
    assert (await world.find(running.id)).status is TaskStatus.COMPLETED


async def test_an_ended_task_says_so(world):
    world.send()
    running = await world.claim_one()
    await world.settle(running)
    assert await cancel(world, running.id) is CancelAnswer.ALREADY_TERMINAL


async def test_an_unknown_task_says_so(world):
    assert await cancel(world, TaskId(world.ids.task_id())) is CancelAnswer.NOT_FOUND
