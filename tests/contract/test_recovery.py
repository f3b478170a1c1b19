"""What the reaper finds: the silent, the lapsed, the expired, the forlorn and the old."""

from datetime import timedelta

import pytest

from horsies.domain.outcome import GiveBack, RetryAt
from horsies.domain.task import Terms
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import LEASE


async def stale(world, status="running", *, silent=None, lapsed=None, limit=10):
    async with world.unit_of_work() as tx:
        find = getattr(tx.recovery, f"stale_{status}")
        return [task.id for task in await find(silent, lapsed, limit)]


@pytest.mark.parametrize(("status", "start"), [("running", True), ("claimed", False)])
async def test_a_task_is_silent_since_its_claim_if_nobody_speaks_for_it(world, status, start):
    world.send()
    task = await world.claim_one(start=start)
    claimed_at = world.now()
    world.pass_time(seconds=10)
    before = claimed_at - timedelta(microseconds=1)
    assert await stale(world, status, silent=before) == []
    assert await stale(world, status, silent=claimed_at) == [task.id]


async def test_each_kind_of_staleness_sees_its_own_state_only(world):
    world.send()
    await world.claim_one(start=False)
    assert await stale(world, "running", silent=world.now()) == []


async def test_a_heartbeat_is_a_sign_of_life(world):
    world.send()
    task = await world.claim_one()
    world.pass_time(seconds=10)
    await world.beat(running=[task.claim])
    world.pass_time(seconds=10)
    assert await stale(world, silent=world.now() - timedelta(seconds=11)) == []
    assert await stale(world, silent=world.now() - timedelta(seconds=10)) == [task.id]


async def test_a_heartbeat_of_an_earlier_epoch_does_not_count(world):
    world.send()
    first = await world.claim_one()
    world.pass_time(seconds=5)
    await world.beat(running=[first.claim])
    await world.settle(first, GiveBack(world.now()), None)
    second = await world.claim_one()
    world.pass_time(seconds=5)
    answer = await world.beat(running=[first.claim])
    assert answer.lost == {first.claim}
    assert await stale(world, silent=second.claimed_at) == [second.id]


async def test_a_lapsed_lease_exposes_the_worker_s_tasks(world):
    world.send()
    task = await world.claim_one()
    await world.beat()
    ends = world.now() + LEASE
    assert await stale(world, lapsed=ends - timedelta(microseconds=1)) == []
    assert await stale(world, lapsed=ends) == [task.id]


async def test_a_renewed_lease_protects_them_again(world):
    world.send()
    await world.claim_one()
    await world.beat()
    world.pass_time(seconds=50)
    await world.beat()
    assert await stale(world, lapsed=world.now() + timedelta(seconds=59)) == []


async def test_a_retired_worker_s_lease_ends_at_once(world):
    world.send()
    task = await world.claim_one()
    await world.beat()
    async with world.unit_of_work() as tx:
        await tx.workers.retire(world.worker)
    assert await stale(world, lapsed=world.now()) == [task.id]


async def test_silence_is_found_without_the_worker_s_row(world):
    world.send()
    task = await world.claim_one()
    await world.beat()
    async with world.unit_of_work() as tx:
        assert await tx.recovery.purge_workers(world.now() + LEASE * 2, 10) == 1
    assert await stale(world, silent=world.now()) == [task.id]


async def test_no_cutoff_finds_nobody(world):
    world.send()
    await world.claim_one()
    world.pass_time(days=9)
    assert await stale(world) == []


async def test_what_is_stale_is_found_in_bounded_batches(world):
    for _ in range(3):
        world.send()
    await world.claim()
    assert len(await stale(world, silent=world.now(), limit=2)) == 2


async def test_pending_tasks_expire_at_their_good_until(world):
    world.send(good_until=world.now() + timedelta(seconds=5))
    world.send()
    world.pass_time(seconds=4)
    async with world.unit_of_work() as tx:
        assert await tx.recovery.expire(10) == []
    world.pass_time(seconds=1)
    async with world.unit_of_work() as tx:
        (expired,) = await tx.recovery.expire(10)
    task = await world.find(expired)
    assert (task.status, task.error_code) == (TaskStatus.EXPIRED, "TASK_EXPIRED")


async def test_a_delayed_task_expires_too(world):
    world.send(delay=timedelta(hours=1), good_until=world.now() + timedelta(seconds=1))
    world.pass_time(seconds=1)
    async with world.unit_of_work() as tx:
        assert len(await tx.recovery.expire(10)) == 1


async def test_a_task_nobody_understands_is_found_after_its_grace_and_rejected_once(world):
    task_id = world.send()
    since = world.now()
    await world.settle(await world.claim_one(), GiveBack(since, unresolved="X"), None)
    async with world.unit_of_work() as tx:
        assert await tx.recovery.unresolved(since - timedelta(seconds=1), 10) == []
        (task,) = await tx.recovery.unresolved(since, 10)
        assert await tx.recovery.reject(task, "WORKER_RESOLUTION_ERROR", b"1")
        assert not await tx.recovery.reject(task, "WORKER_RESOLUTION_ERROR", b"1")
    ended = await world.find(task_id)
    assert (ended.status, ended.attempt, ended.result) == (TaskStatus.FAILED, 0, b"1")


async def test_a_task_that_was_claimed_meanwhile_is_not_rejected(world):
    world.send()
    await world.settle(await world.claim_one(), GiveBack(world.now(), unresolved="X"), None)
    async with world.unit_of_work() as tx:
        (task,) = await tx.recovery.unresolved(world.now(), 10)
    await world.claim_one()
    async with world.unit_of_work() as tx:
        assert not await tx.recovery.reject(task, "WORKER_RESOLUTION_ERROR", b"1")


async def purge(world, retention, limit=10):
    async with world.unit_of_work() as tx:
        return await tx.recovery.purge(retention, limit)


async def test_ended_tasks_are_forgotten_after_the_retention(world):
    task_id = world.send()
    await world.settle(await world.claim_one(), RetryAt(world.now(), "X"), b"1")
    await world.settle(await world.claim_one())
    world.pass_time(hours=1)
    assert await purge(world, timedelta(hours=2)) == 0
    assert await purge(world, timedelta(hours=1)) == 1
    async with world.unit_of_work() as tx:
        assert await tx.archive.find([task_id]) == {}
        assert await tx.archive.attempts(task_id) == []


async def test_live_tasks_are_never_forgotten(world):
    world.send()
    world.pass_time(days=999)
    assert await purge(world, timedelta(0)) == 0


async def test_a_task_s_own_result_ttl_overrides_the_retention(world):
    world.send(terms=Terms(result_ttl=timedelta(seconds=1)))
    world.send(terms=Terms(result_ttl=timedelta(days=9)))
    for task in await world.claim():
        await world.settle(task)
    world.pass_time(hours=2)
    assert await purge(world, timedelta(hours=1)) == 1


async def test_no_retention_keeps_everything(world):
    world.send()
    await world.settle(await world.claim_one())
    world.pass_time(days=999)
    assert await purge(world, None) == 0


async def test_old_heartbeats_are_forgotten(world):
    world.send()
    task = await world.claim_one()
    await world.beat(running=[task.claim])
    async with world.unit_of_work() as tx:
        assert await tx.recovery.purge_heartbeats(world.now(), 10) == 0
    world.pass_time(seconds=1)
    async with world.unit_of_work() as tx:
        assert await tx.recovery.purge_heartbeats(world.now(), 10) == 1
