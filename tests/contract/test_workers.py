"""Workers: leases, signs of life, and who is watched."""

from dataclasses import replace
from datetime import timedelta

import pytest

from horsies.domain.outcome import Fail, GiveBack
from horsies.domain.suspension import EVERYBODY, Suspensions
from horsies.domain.worker import Gauge, Load, Presence, Pulse, Versions, WorkerState
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
    await world.settle(task, Fail("BOOM"), b"{}")
    assert (await world.beat(running=[task.claim])).lost == {task.claim}


async def test_a_run_that_has_completed_its_task_may_go_on(world):
    world.send()
    task = await world.claim_one()
    await world.settle(task)
    assert (await world.beat(running=[task.claim])).lost == frozenset()


async def everybody(world):
    async with world.unit_of_work() as tx:
        return await tx.workers.all()


async def test_a_worker_is_remembered_as_it_described_itself(world):
    described = replace(
        world.record(world.worker),
        state=WorkerState.BUSY,
        queues=("a", "b"),
        caps={"a": 0, "b": 7},
        load=Load(running=2, claimed=1, places=8, gauge=Gauge(3_000_000_000, 1.5)),
        versions=Versions(horsies="1.2", python="3.13.1", schema=5),
        hears=True,
        pinged_at=world.now(),
    )
    async with world.unit_of_work() as tx:
        await tx.workers.beat(Pulse(described), LEASE)
    found = replace(described, lease_until=world.now() + LEASE, beat_at=world.now())
    assert await everybody(world) == [found]


async def test_a_later_beat_replaces_what_was_said(world):
    await world.beat()
    world.pass_time(seconds=1)
    now = replace(
        world.record(world.worker),
        started_at=world.now() - timedelta(seconds=1),
        state=WorkerState.IDLE,
        caps={"a": 1},
        load=Load(running=1, claimed=2, places=3, gauge=Gauge(4, 0.5)),
        hears=True,
        pinged_at=world.now(),
    )
    async with world.unit_of_work() as tx:
        await tx.workers.beat(Pulse(now), LEASE)
    assert await everybody(world) == [
        replace(now, lease_until=world.now() + LEASE, beat_at=world.now())
    ]


async def test_who_signs_off_has_left_and_is_not_lost(world):
    await world.beat()
    async with world.unit_of_work() as tx:
        await tx.workers.retire(world.worker)
    (worker,) = await everybody(world)
    assert (worker.presence(world.now()), worker.left_at) == (Presence.LEFT, world.now())


async def test_who_says_nothing_for_a_lease_is_lost(world):
    await world.beat()
    world.pass_time(seconds=LEASE.total_seconds())
    (worker,) = await everybody(world)
    assert worker.presence(world.now()) is Presence.LOST


async def test_a_beat_after_all_is_a_return(world):
    await world.beat()
    async with world.unit_of_work() as tx:
        await tx.workers.retire(world.worker)
    await world.beat()
    (worker,) = await everybody(world)
    assert worker.presence(world.now()) is Presence.HERE


async def test_what_is_held_quietly_is_confirmed_without_a_heartbeat(world):
    world.send()
    task = await world.claim_one()
    claimed_at = world.now()
    world.pass_time(seconds=5)
    assert (await world.beat(quiet=[task.claim])).lost == frozenset()
    (found,) = await silent(world, claimed_at)
    assert found.last_heartbeat_at is None


async def test_what_was_held_quietly_and_is_lost_is_named(world):
    world.send()
    task = await world.claim_one()
    await world.settle(task, Fail("BOOM"), b"{}")
    assert (await world.beat(quiet=[task.claim])).lost == {task.claim}


async def test_a_cancel_reaches_what_is_held_quietly(world):
    world.send()
    task = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task.id])
    assert (await world.beat(quiet=[task.claim])).cancel_requested == {task.claim}


async def suspend(world, *names):
    async with world.unit_of_work() as tx:
        for name in names:
            await tx.workers.suspend(name)


async def is_suspended(world, worker=None):
    return (await world.beat(worker)).suspended


@pytest.mark.parametrize("name", ["w1", EVERYBODY])
async def test_a_beat_says_that_its_worker_is_suspended(world, name):
    assert not await is_suspended(world)
    await suspend(world, name)
    assert await is_suspended(world)


async def test_another_name_s_suspension_is_not_one_s_own(world):
    await suspend(world, "w2")
    assert not await is_suspended(world)


async def test_a_suspended_name_stays_so_for_the_next_worker_of_that_name(world):
    await suspend(world, "w1")
    again = replace(world.record(world.new_worker()), name="w1")
    async with world.unit_of_work() as tx:
        assert (await tx.workers.beat(Pulse(again), LEASE)).suspended


async def test_to_suspend_twice_is_to_suspend(world):
    await suspend(world, "w1", "w1")
    async with world.unit_of_work() as tx:
        await tx.workers.resume("w1")
    assert not await is_suspended(world)


async def test_one_that_resumes_waits_for_the_suspension_of_all_to_end(world):
    await suspend(world, "w1", EVERYBODY)
    async with world.unit_of_work() as tx:
        await tx.workers.resume("w1")
        assert await tx.workers.suspensions() == Suspensions(frozenset({EVERYBODY}))
    assert await is_suspended(world)


async def test_when_all_resume_nobody_is_left_behind(world):
    await suspend(world, "w1", "w2", EVERYBODY)
    async with world.unit_of_work() as tx:
        await tx.workers.resume_all()
        assert await tx.workers.suspensions() == Suspensions()
    assert not await is_suspended(world)


async def lapse(world, other_than, after=None):
    async with world.unit_of_work() as tx:
        return await tx.workers.next_lapse(other_than, after)


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


async def test_a_lapse_that_was_judged_hides_no_later_one(world):
    early, late = world.new_worker(), world.new_worker()
    for worker in (early, late):
        world.send()
        await world.claim_one(worker=worker)
    await world.beat(early)
    first = world.now() + LEASE
    world.pass_time(seconds=10)
    await world.beat(late)
    second = world.now() + LEASE
    assert await lapse(world, world.worker, first) == second
    assert await lapse(world, world.worker, second) is None


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
