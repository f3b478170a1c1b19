"""Workers: leases, signs of life, and who is watched."""

from datetime import timedelta

from horsies.domain.outcome import GiveBack
from tests.contract.conftest import LEASE


async def test_a_beat_registers_and_renews(world):
    await world.beat()
    world.pass_time(seconds=20)
    await world.beat()
    async with world.unit_of_work() as tx:
        (worker,) = await tx.workers.all()
    assert (worker.id, worker.lease_until) == (world.worker, world.now() + LEASE)


async def test_a_beat_confirms_what_is_held(world):
    world.send()
    world.send()
    running = await world.claim_one()
    claimed = await world.claim_one(start=False)
    answer = await world.beat(running=[running.claim], claimed=[claimed.claim])
    assert answer.lost == frozenset()


async def test_a_beat_names_what_is_lost(world):
    world.send()
    mine = await world.claim_one()
    await world.settle(mine, GiveBack(world.now()), None)
    await world.claim_one(worker=world.new_worker())
    assert (await world.beat(running=[mine.claim])).lost == {mine.claim}


async def test_a_beat_for_another_worker_s_task_is_refused(world):
    world.send()
    theirs = await world.claim_one(worker=world.new_worker())
    assert (await world.beat(running=[theirs.claim])).lost == {theirs.claim}


async def test_a_beat_for_an_ended_task_is_refused(world):
    world.send()
    task = await world.claim_one()
    await world.settle(task)
    assert (await world.beat(running=[task.claim])).lost == {task.claim}


async def lapse(world, other_than):
    async with world.unit_of_work() as tx:
        return await tx.workers.next_lapse(other_than)


async def test_the_next_lapse_is_the_earliest_lease_of_others_that_hold_tasks(world):
    early, late, idle = world.new_worker(), world.new_worker(), world.new_worker()
    for worker in (early, late):
        world.send()
        await world.claim_one(worker=worker)
    await world.beat(idle)
    await world.beat(early)
    expected = world.now() + LEASE
    world.pass_time(seconds=10)
    await world.beat(late)
    assert await lapse(world, world.worker) == expected
    assert await lapse(world, early) == world.now() + LEASE


async def test_nobody_else_means_no_lapse(world):
    world.send()
    await world.claim_one()
    await world.beat()
    assert await lapse(world, world.worker) is None


async def silent(world, since):
    async with world.unit_of_work() as tx:
        return await tx.archive.silent(since)


async def test_what_nobody_spoke_for_is_listed_with_its_worker(world):
    world.send()
    task = await world.claim_one()
    world.pass_time(seconds=5)
    await world.beat(running=[task.claim])
    heard = world.now()
    assert await silent(world, heard - timedelta(seconds=1)) == []
    (found,) = await silent(world, heard)
    assert (found.id, found.status, found.last_heartbeat_at) == (task.id, task.status, heard)
    assert (found.worker_hostname, found.worker_pid) == ("stable", 1)
