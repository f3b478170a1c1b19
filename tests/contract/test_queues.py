"""Queues: how full they are, and what it means that one is paused."""

from datetime import timedelta

from horsies.domain.queue import QueueDepth
from horsies.domain.task_lifecycle import TaskStatus

EMAILS, REPORTS = "emails", "reports"


async def pause(world, queue):
    async with world.unit_of_work() as tx:
        await tx.queues.pause(queue)


async def resume(world, queue):
    async with world.unit_of_work() as tx:
        return await tx.queues.resume(queue)


async def depths(world):
    async with world.unit_of_work() as tx:
        return await tx.queues.all()


async def test_nothing_is_claimed_from_a_paused_queue(world):
    world.send(queue=EMAILS)
    open_one = world.send(queue=REPORTS)
    await pause(world, EMAILS)
    assert [task.id for task in await world.claim(queues=(EMAILS, REPORTS))] == [open_one]


async def test_a_resumed_queue_is_claimed_from_again(world):
    task_id = world.send(queue=EMAILS)
    await pause(world, EMAILS)
    assert await resume(world, EMAILS)
    assert [task.id for task in await world.claim(queues=(EMAILS,))] == [task_id]


async def test_a_queue_that_was_not_paused_cannot_be_resumed(world):
    assert not await resume(world, EMAILS)


async def test_a_queue_is_paused_since_it_was_first_paused(world):
    await pause(world, EMAILS)
    since = world.now()
    world.pass_time(seconds=5)
    await pause(world, EMAILS)
    assert await depths(world) == [QueueDepth(name=EMAILS, paused_at=since)]


async def test_a_queue_is_counted_by_what_its_tasks_do(world):
    first = world.now()
    for _ in range(4):
        world.send(queue=EMAILS)
        world.pass_time(seconds=1)
    world.send(queue=EMAILS, delay=timedelta(hours=1))
    await world.claim_one(queues=(EMAILS,))
    await world.claim_one(queues=(EMAILS,), start=False)
    world.send(queue=REPORTS)
    assert await depths(world) == [
        QueueDepth(
            name=EMAILS,
            waiting=2,
            delayed=1,
            claimed=1,
            running=1,
            oldest=first + timedelta(seconds=2),
        ),
        QueueDepth(name=REPORTS, waiting=1, oldest=world.now()),
    ]


async def test_what_is_held_of_a_queue_can_be_given_back(world):
    world.send(queue=EMAILS)
    world.send(queue=EMAILS)
    world.send(queue=REPORTS)
    await world.claim_one(queues=(EMAILS,))
    held = await world.claim_one(queues=(EMAILS,), start=False)
    await world.claim_one(queues=(REPORTS,), start=False)
    async with world.unit_of_work() as tx:
        claims = await tx.queues.claimed(EMAILS)
        assert claims == [held.claim]
        await tx.tasks.release(claims)
    assert (await world.find(held.id)).status is TaskStatus.PENDING
