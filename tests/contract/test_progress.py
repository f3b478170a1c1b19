"""Progress: of the present run alone, and gone with it."""

from horsies.domain.outcome import GiveBack, RetryAt
from horsies.domain.progress import Progress

HALF = Progress(0.5, "half of it")


async def tell(world, *told):
    async with world.unit_of_work() as tx:
        await tx.tasks.note_progress(dict(told))


async def progress(world, task):
    async with world.unit_of_work() as tx:
        return await tx.archive.progress(task.id)


async def test_the_latest_that_a_run_has_told_is_shown(world):
    world.send()
    world.send()
    one, two = await world.claim()
    await tell(world, (one.claim, Progress(0.1)), (two.claim, HALF))
    await tell(world, (one.claim, Progress(0.4, "nearly")))
    assert await progress(world, one) == Progress(0.4, "nearly")
    assert await progress(world, two) == HALF


async def test_a_run_that_has_told_nothing_shows_nothing(world):
    world.send()
    assert await progress(world, await world.claim_one()) is None


async def test_a_task_that_is_not_running_shows_nothing(world):
    world.send()
    claimed = await world.claim_one(start=False)
    await tell(world, (claimed.claim, HALF))
    assert await progress(world, claimed) is None


async def test_a_retry_begins_without_the_progress_of_the_run_before(world):
    world.send()
    first = await world.claim_one()
    await tell(world, (first.claim, HALF))
    await world.settle(first, RetryAt(world.now(), "BOOM"), b"{}")
    assert await progress(world, first) is None
    assert await progress(world, await world.claim_one()) is None


async def test_who_has_lost_a_task_cannot_tell_of_it(world):
    world.send()
    zombie = await world.claim_one()
    await world.settle(zombie, GiveBack(world.now()), None)
    heir = await world.claim_one(worker=world.new_worker())
    await tell(world, (zombie.claim, HALF))
    assert await progress(world, heir) is None


async def test_an_ended_task_shows_nothing(world):
    world.send()
    task = await world.claim_one()
    await tell(world, (task.claim, HALF))
    await world.settle(task)
    assert await progress(world, task) is None
    await tell(world, (task.claim, HALF))
    assert await progress(world, task) is None
