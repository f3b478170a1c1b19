"""The reaper: what the dead left is picked up, what is living or unknown is left alone."""

from dataclasses import replace
from datetime import timedelta

import pytest

from horsies.application.settings.app import AppConfig
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.usecases.reap_tasks import Reaped
from horsies.domain.lease import Watch
from horsies.domain.outcome import Errored, Succeeded, Unresolved
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import FailureHandler, Terms
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import LEASE, START
from tests.unit.application.usecases.bench import AGES_AGO
from tests.unit.application.usecases.bench import bench as new_bench

CRASH_PROOF = Terms(retry=RetryPolicy.fixed([1] * 9, auto_retry_for=["WORKER_CRASHED"]))
WATCHED = Terms(on_failure=FailureHandler(name="clean_up", queue="default"))
SILENT_CLAIM = timedelta(milliseconds=RecoveryConfig().claimed_stale_threshold_ms)
SILENT_RUN = timedelta(milliseconds=RecoveryConfig().running_stale_threshold_ms)
TICK = timedelta(microseconds=1)


def with_recovery(**changes):
    return new_bench(AppConfig(recovery=RecoveryConfig(**changes)))


async def held_by_a_living_worker(bench, *, start):
    bench.send()
    await bench.beat()
    return await bench.claim_one(start=start)


async def stay_alive(bench, until):
    """The worker renews its lease, but says nothing of its tasks."""
    while bench.now() < until:
        bench.clock.advance(min(LEASE / 4, until - bench.now()))
        await bench.beat()


async def test_a_quiet_cluster_has_nothing_to_reap(bench):
    bench.send()
    assert await bench.reap(bench.long_watch) == Reaped()


async def test_a_claim_without_a_sign_of_life_goes_back_at_its_threshold(bench):
    task = await held_by_a_living_worker(bench, start=False)
    await stay_alive(bench, bench.now() + SILENT_CLAIM - TICK)
    assert (await bench.reap(bench.long_watch)).requeued == 0
    bench.clock.advance(TICK)
    assert (await bench.reap(bench.long_watch)).requeued == 1
    again = await bench.find(task.id)
    assert (again.status, again.attempt, again.crashes) == (TaskStatus.PENDING, 0, 0)


async def test_a_run_without_a_sign_of_life_is_judged_at_its_threshold(bench):
    task = await held_by_a_living_worker(bench, start=True)
    await stay_alive(bench, bench.now() + SILENT_RUN - TICK)
    assert (await bench.reap(bench.long_watch)).recovered == 0
    bench.clock.advance(TICK)
    assert (await bench.reap(bench.long_watch)).recovered == 1
    ended = await bench.find(task.id)
    assert (ended.status, ended.error_code) == (TaskStatus.FAILED, "WORKER_CRASHED")
    assert ended.crashes == 1


async def test_a_heartbeat_keeps_a_run_from_being_judged(bench):
    task = await held_by_a_living_worker(bench, start=True)
    await stay_alive(bench, bench.now() + SILENT_RUN - TICK)
    await bench.beat(running=[task.claim])
    bench.clock.advance(TICK)
    assert (await bench.reap(bench.long_watch)).recovered == 0


async def test_a_lapsed_lease_gives_claims_back_and_judges_runs(bench):
    bench.send()
    bench.send(terms=CRASH_PROOF)
    await bench.beat()
    claimed = await bench.claim_one(start=False)
    running = await bench.claim_one()
    bench.clock.advance(LEASE)
    reaped = await bench.reap(bench.long_watch)
    assert (reaped.requeued, reaped.recovered) == (1, 1)
    assert (await bench.find(claimed.id)).crashes == 0
    retried = await bench.find(running.id)
    assert (retried.status, retried.retries, retried.crashes) == (TaskStatus.PENDING, 1, 1)


async def test_a_lease_that_still_runs_protects(bench):
    await held_by_a_living_worker(bench, start=True)
    bench.clock.advance(LEASE - TICK)
    assert await bench.reap(bench.long_watch) == Reaped()


async def test_a_lapsed_lease_cannot_settle_what_the_reaper_gave_away(bench):
    bench.send(terms=CRASH_PROOF)
    await bench.beat()
    zombie = await bench.claim_one()
    bench.clock.advance(LEASE)
    await bench.reap(bench.long_watch)
    assert await bench.report(zombie, Succeeded(), b'{"ok":1}') == {zombie.claim}


async def test_a_crash_that_the_reaper_finds_the_third_time_quarantines(bench):
    task_id = bench.send(terms=CRASH_PROOF)
    for _ in range(3):
        await bench.promote()
        await bench.beat()
        await bench.claim_one()
        bench.clock.advance(LEASE)
        await bench.reap(bench.long_watch)
        bench.pass_time(seconds=1)
    assert (await bench.find(task_id)).error_code == "TASK_QUARANTINED"


async def test_a_lost_run_that_somebody_wants_cancelled_is_cancelled(bench):
    bench.send(terms=CRASH_PROOF)
    await bench.beat()
    task = await bench.claim_one()
    await bench.cancel(task)
    bench.clock.advance(LEASE)
    await bench.reap(bench.long_watch)
    assert (await bench.find(task.id)).status is TaskStatus.CANCELLED


async def test_a_lost_run_sends_its_failure_handler(bench):
    bench.send(terms=WATCHED)
    await bench.beat()
    await bench.claim_one()
    bench.clock.advance(LEASE)
    await bench.reap(bench.long_watch)
    assert await bench.pending_names() == ["clean_up"]


async def test_two_reapers_judge_a_run_once(bench):
    bench.send(terms=CRASH_PROOF)
    await bench.beat()
    task = await bench.claim_one()
    bench.clock.advance(LEASE)
    first = await bench.reap(bench.long_watch)
    second = await bench.reap(bench.long_watch)
    assert (first.recovered, second.recovered) == (1, 0)
    assert (await bench.find(task.id)).crashes == 1


@pytest.mark.parametrize("start", [True, False], ids=["running", "claimed"])
@pytest.mark.parametrize("moment", ["server_started_at", "connected_since"])
async def test_nobody_is_stale_right_after_the_watch_began(bench, moment, start):
    await held_by_a_living_worker(bench, start=start)
    bench.pass_time(days=1)
    young = replace(bench.long_watch, **{moment: bench.now()})
    assert await bench.reap(young) == Reaped()


async def test_a_lease_lapses_once_the_watch_is_as_old_as_a_lease(bench):
    await held_by_a_living_worker(bench, start=True)
    bench.pass_time(days=1)
    watch = Watch(server_started_at=AGES_AGO, connected_since=bench.now())
    bench.clock.advance(LEASE - TICK)
    assert (await bench.reap(watch)).recovered == 0
    bench.clock.advance(TICK)
    assert (await bench.reap(watch)).recovered == 1


async def test_silence_is_found_without_the_row_of_its_worker(bench):
    bench.send()
    await bench.claim_one()
    bench.clock.advance(SILENT_RUN)
    assert (await bench.reap(bench.long_watch)).recovered == 1


async def test_a_switched_off_recovery_leaves_lapsed_claims_alone():
    bench = with_recovery(auto_requeue_stale_claimed=False)
    task = await held_by_a_living_worker(bench, start=False)
    bench.pass_time(days=1)
    assert await bench.reap(bench.long_watch) == Reaped()
    assert await bench.find(task.id) == task


async def test_a_switched_off_recovery_leaves_lapsed_runs_alone():
    bench = with_recovery(auto_fail_stale_running=False)
    task = await held_by_a_living_worker(bench, start=True)
    bench.pass_time(days=1)
    assert await bench.reap(bench.long_watch) == Reaped()
    assert await bench.find(task.id) == task


async def test_each_switch_leaves_the_other_recovery_on():
    bench = with_recovery(auto_requeue_stale_claimed=False)
    await held_by_a_living_worker(bench, start=True)
    bench.clock.advance(LEASE)
    assert (await bench.reap(bench.long_watch)).recovered == 1


async def test_waiting_tasks_expire(bench):
    task_id = bench.send(good_until=START + timedelta(seconds=5))
    bench.pass_time(seconds=5)
    assert (await bench.reap(bench.long_watch)).expired == 1
    assert (await bench.find(task_id)).status is TaskStatus.EXPIRED


async def test_a_waiting_retry_expires_too(bench):
    policy = RetryPolicy.fixed([9], auto_retry_for=["BOOM"])
    bench.send(terms=Terms(retry=policy), good_until=START + timedelta(seconds=10))
    await bench.run_once(Errored("BOOM"), bench.failed())
    bench.pass_time(seconds=10)
    assert await bench.reap.expire() == 1


@pytest.mark.parametrize("code", ["WORKER_RESOLUTION_ERROR", "ARGUMENT_MISMATCH"])
async def test_what_nobody_understands_fails_after_the_grace_for_its_reason(bench, code):
    bench.send()
    task = await bench.run_once(Unresolved(code))
    bench.clock.advance(timedelta(minutes=5) - TICK)
    assert (await bench.reap(bench.long_watch)).rejected == 0
    bench.clock.advance(TICK)
    assert (await bench.reap(bench.long_watch)).rejected == 1
    ended = await bench.find(task.id)
    assert (ended.status, ended.error_code, ended.attempt) == (TaskStatus.FAILED, code, 0)
    assert bench.error(ended.result).message


async def test_a_rejected_task_sends_its_failure_handler(bench):
    bench.send(terms=WATCHED)
    await bench.run_once(Unresolved("WORKER_RESOLUTION_ERROR"))
    bench.pass_time(minutes=5)
    await bench.reap(bench.long_watch)
    assert await bench.pending_names() == ["clean_up"]


async def test_a_task_that_was_understood_meanwhile_is_not_rejected(bench):
    bench.send(terms=Terms(retry=RetryPolicy.fixed([3600], auto_retry_for=["BOOM"])))
    await bench.run_once(Unresolved("WORKER_RESOLUTION_ERROR"))
    bench.pass_time(seconds=5)
    await bench.run_once(Errored("BOOM"), bench.failed())
    bench.pass_time(minutes=30)
    assert (await bench.reap(bench.long_watch)).rejected == 0


async def test_a_grace_of_zero_rejects_at_once():
    bench = with_recovery(unresolved_grace_ms=0)
    bench.send()
    task = await bench.run_once(Unresolved("WORKER_RESOLUTION_ERROR"))
    assert task.status is TaskStatus.FAILED


async def ended_task(bench, **fields):
    bench.send(**fields)
    return await bench.run_once(Succeeded(), b'{"ok":1}')


async def known(bench, task):
    async with bench.unit_of_work() as tx:
        return task.id in await tx.archive.find([task.id])


async def test_ended_tasks_are_forgotten_after_the_retention(bench):
    task = await ended_task(bench)
    bench.clock.advance(timedelta(hours=720) - TICK)
    assert (await bench.reap(bench.long_watch)).purged == 0
    bench.clock.advance(TICK)
    assert (await bench.reap(bench.long_watch)).purged == 1
    assert not await known(bench, task)


async def test_a_retention_of_none_keeps_everything():
    bench = with_recovery(
        terminal_record_retention_hours=None,
        heartbeat_retention_hours=None,
        worker_state_retention_hours=None,
    )
    task = await ended_task(bench)
    await bench.beat()
    bench.pass_time(days=3650)
    assert (await bench.reap(bench.long_watch)).purged == 0
    assert await known(bench, task)


async def test_a_result_ttl_overrides_the_retention(bench):
    task = await ended_task(bench, terms=Terms(result_ttl=timedelta(seconds=1)))
    bench.pass_time(seconds=1)
    await bench.reap(bench.long_watch)
    assert not await known(bench, task)


async def workers(bench):
    async with bench.unit_of_work() as tx:
        return await tx.workers.all()


async def test_workers_long_gone_are_forgotten(bench):
    await bench.beat()
    bench.clock.advance(LEASE + timedelta(hours=168))
    await bench.reap(bench.long_watch)
    assert len(await workers(bench)) == 1
    bench.clock.advance(TICK)
    await bench.reap(bench.long_watch)
    assert await workers(bench) == []


async def test_old_heartbeats_are_forgotten(bench):
    task = await held_by_a_living_worker(bench, start=True)
    await bench.beat(running=[task.claim])
    bench.clock.advance(timedelta(hours=24) + TICK)
    await bench.reap.purge()
    async with bench.unit_of_work() as tx:
        assert await tx.recovery.purge_heartbeats(bench.now(), 10) == 0
