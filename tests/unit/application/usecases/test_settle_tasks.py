"""Settling: how a run ended becomes what happens to its task, once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from horsies.application.ports.executor import RunReport
from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode
from horsies.domain.outcome import (
    Crashed,
    Errored,
    GiveBack,
    Interrupted,
    ShutDown,
    Succeeded,
    Unbegun,
    Unresolved,
)
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import Terms
from horsies.domain.task_lifecycle import TaskStatus

CRASHED = OperationalErrorCode.WORKER_CRASHED
UNKNOWN = OperationalErrorCode.WORKER_RESOLUTION_ERROR
TWICE = Terms(retry=RetryPolicy.fixed([10, 60], auto_retry_for=["BOOM"]))
CRASH_PROOF = Terms(retry=RetryPolicy.fixed([1] * 9, auto_retry_for=[CRASHED]))


async def test_settling_nothing_loses_nothing(bench):
    async with bench.unit_of_work() as tx:
        assert not await bench.judge_runs(tx, [])


async def test_a_success_completes_and_keeps_its_result(bench):
    bench.send()
    task = await bench.run_once(Succeeded(), b'{"ok":7}')
    assert (task.status, task.result, task.error_code) == (TaskStatus.COMPLETED, b'{"ok":7}', None)


async def test_an_error_without_policy_fails_and_keeps_its_result(bench):
    bench.send()
    task = await bench.run_once(Errored("BOOM"), bench.failed())
    assert (task.status, task.error_code) == (TaskStatus.FAILED, "BOOM")
    assert task.result == bench.failed()


async def test_a_listed_error_is_retried_after_its_delay(bench):
    bench.send(terms=TWICE)
    task = await bench.run_once(Errored("BOOM"), bench.failed())
    assert (task.status, task.retries) == (TaskStatus.PENDING, 1)
    assert task.next_retry_at == bench.now() + timedelta(seconds=10)


async def test_an_error_that_is_not_listed_fails_at_once(bench):
    bench.send(terms=TWICE)
    assert (await bench.run_once(Errored("OTHER"))).status is TaskStatus.FAILED


async def test_an_exception_of_a_listed_class_is_retried_whatever_its_code(bench):
    bench.send(terms=TWICE)
    task = await bench.run_once(Errored("OTHER", retryable=True), bench.failed("OTHER"))
    assert task.status is TaskStatus.PENDING


async def test_used_up_retries_fail_with_every_attempt_on_record(bench):
    bench.send(terms=TWICE)
    for _ in range(3):
        task = await bench.run_once(Errored("BOOM"), bench.failed())
        bench.pass_time(minutes=1)
    assert (task.status, task.attempt, task.retries) == (TaskStatus.FAILED, 3, 2)
    attempts = await bench.attempts(task)
    assert [(a.number, a.error_code, a.result) for a in attempts] == [
        (number, "BOOM", bench.failed()) for number in (1, 2, 3)
    ]


async def test_a_retry_that_would_come_too_late_is_not_scheduled(bench):
    bench.send(terms=TWICE, good_until=bench.now() + timedelta(seconds=10))
    assert (await bench.run_once(Errored("BOOM"))).status is TaskStatus.FAILED


async def test_an_interrupted_run_is_cancelled(bench):
    bench.send()
    task = await bench.run_once(Interrupted())
    assert (task.status, task.error_code) == (TaskStatus.CANCELLED, "TASK_CANCELLED")


async def test_an_unbegun_run_goes_back_without_an_attempt(bench):
    bench.send()
    task = await bench.run_once(Unbegun())
    assert (task.status, task.attempt, task.worker) == (TaskStatus.PENDING, 0, None)


async def test_an_unbegun_task_keeps_its_place_in_the_queue(bench):
    first = bench.send()
    bench.pass_time(seconds=1)
    bench.send()
    bench.pass_time(seconds=1)
    await bench.run_once(Unbegun())
    assert (await bench.claim_one()).id == first


async def test_a_crash_is_not_retried_unless_it_is_listed(bench):
    bench.send(terms=TWICE)
    task = await bench.run_once(Crashed())
    assert (task.status, task.error_code, task.crashes) == (TaskStatus.FAILED, CRASHED, 1)


async def test_a_listed_crash_is_retried_and_counted(bench):
    bench.send(terms=CRASH_PROOF)
    task = await bench.run_once(Crashed())
    assert (task.status, task.retries, task.crashes) == (TaskStatus.PENDING, 1, 1)


async def test_the_third_crash_quarantines_whatever_retries_remain(bench):
    bench.send(terms=CRASH_PROOF)
    for _ in range(3):
        task = await bench.run_once(Crashed())
        bench.pass_time(seconds=1)
    assert (task.status, task.error_code) == (TaskStatus.FAILED, OutcomeErrorCode.TASK_QUARANTINED)
    assert (task.attempt, task.crashes) == (3, 3)


async def test_errors_do_not_count_towards_the_quarantine(bench):
    terms = Terms(retry=RetryPolicy.fixed([1] * 9, auto_retry_for=[CRASHED, "BOOM"]))
    bench.send(terms=terms)
    for outcome in (Crashed(), Errored("BOOM"), Errored("BOOM"), Crashed()):
        task = await bench.run_once(outcome)
        bench.pass_time(seconds=1)
    assert (task.status, task.crashes) == (TaskStatus.PENDING, 2)


async def test_a_shutdown_fails_a_task_that_must_not_run_twice(bench):
    bench.send(terms=TWICE)
    task = await bench.run_once(ShutDown())
    assert (task.status, task.error_code) == (TaskStatus.FAILED, "WORKER_SHUTDOWN")


async def test_a_shutdown_costs_neither_a_retry_nor_a_crash_where_crashes_are_listed(bench):
    bench.send(terms=CRASH_PROOF)
    task = await bench.run_once(ShutDown())
    assert (task.status, task.retries, task.crashes) == (TaskStatus.PENDING, 0, 0)
    assert task.next_retry_at == bench.now()


async def test_a_task_nobody_here_understands_waits_longer_each_time(bench):
    bench.send()
    waits = []
    for _ in range(4):
        task = await bench.run_once(Unresolved(UNKNOWN))
        waits.append((task.enqueued_at - bench.now()).total_seconds())
        bench.clock.advance_to(task.enqueued_at)
    assert waits == [5, 10, 20, 40]
    assert (task.status, task.attempt) == (TaskStatus.PENDING, 0)


@pytest.mark.parametrize("code", [UNKNOWN, "ARGUMENT_MISMATCH"])
async def test_a_task_nobody_understood_within_the_grace_fails_for_that_reason(bench, code):
    bench.send()
    await bench.run_once(Unresolved(code))
    bench.pass_time(minutes=5)
    task = await bench.run_once(Unresolved(code))
    assert (task.status, task.error_code, task.attempt) == (TaskStatus.FAILED, code, 0)


async def test_a_task_that_was_understood_once_gets_a_new_grace(bench):
    bench.send(terms=Terms(retry=RetryPolicy.fixed([600], auto_retry_for=["BOOM"])))
    await bench.run_once(Unresolved(UNKNOWN))
    bench.pass_time(seconds=5)
    await bench.run_once(Errored("BOOM"), bench.failed())
    bench.pass_time(minutes=10)
    assert (await bench.run_once(Unresolved(UNKNOWN))).status is TaskStatus.PENDING


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [
        (Crashed(), CRASHED, "the process that ran the task died"),
        (ShutDown(), "WORKER_SHUTDOWN", "the worker stopped before the task ended"),
    ],
)
async def test_a_task_that_could_not_tell_of_its_end_gets_an_explanation(
    bench, outcome, code, words
):
    bench.send()
    error = bench.error((await bench.run_once(outcome)).result)
    assert (error.error_code, error.message) == (code, words)


async def test_a_detail_is_the_better_explanation(bench):
    bench.send()
    task = await bench.claim_one()
    await bench.report(task, Crashed(), detail="killed by signal 9")
    assert bench.error((await bench.find(task.id)).result).message == "killed by signal 9"


async def test_a_code_without_explanation_still_has_an_error(bench):
    bench.send()
    error = bench.error((await bench.run_once(Errored("BOOM"))).result)
    assert (error.error_code, error.message) == ("BOOM", None)


class TestCancelBetweenClaimAndEnd:
    """The worker judges on what it claimed; the store knows that a cancel came meanwhile."""

    async def end(self, bench, outcome, terms=CRASH_PROOF, result=None):
        bench.send(terms=terms)
        task = await bench.claim_one()
        await bench.cancel(task)
        assert await bench.report(task, outcome, result) == set()
        return await bench.find(task.id)

    async def test_a_listed_error_fails_instead_of_being_retried(self, bench):
        task = await self.end(bench, Errored("BOOM"), TWICE, bench.failed())
        assert (task.status, task.error_code) == (TaskStatus.FAILED, "BOOM")

    @pytest.mark.parametrize("terms", [CRASH_PROOF, Terms()], ids=["listed", "not listed"])
    @pytest.mark.parametrize("outcome", [Crashed(), ShutDown(), Interrupted()], ids=str)
    async def test_a_run_that_did_not_return_is_cancelled(self, bench, outcome, terms):
        assert (await self.end(bench, outcome, terms)).status is TaskStatus.CANCELLED

    @pytest.mark.parametrize("outcome", [Unbegun(), Unresolved(UNKNOWN)])
    async def test_what_never_began_is_cancelled_and_never_starts(self, bench, outcome):
        task = await self.end(bench, outcome)
        assert (task.status, task.attempt) == (TaskStatus.CANCELLED, 0)

    @pytest.mark.parametrize(
        ("outcome", "terms"),
        [(Errored("BOOM"), TWICE), (Crashed(), Terms()), (Unbegun(), Terms())],
        ids=["an error", "a crash", "unbegun"],
    )
    async def test_a_lost_acknowledgement_is_recognised_all_the_same(self, bench, outcome, terms):
        bench.send(terms=terms)
        task = await bench.claim_one()
        await bench.cancel(task)
        await bench.report(task, outcome)
        assert await bench.report(task, outcome) == set()

    async def test_a_normal_return_stands(self, bench):
        assert (await self.end(bench, Succeeded(), result=b'{"ok":1}')).status is (
            TaskStatus.COMPLETED
        )

    async def test_the_others_of_the_batch_are_retried_all_the_same(self, bench):
        bench.send(terms=TWICE)
        bench.send(terms=TWICE)
        asked, other = await bench.claim()
        await bench.cancel(asked)
        async with bench.unit_of_work() as tx:
            reports = [RunReport(t, Errored("BOOM"), bench.failed()) for t in (asked, other)]
            assert not await bench.judge_runs(tx, reports)
        assert (await bench.find(asked.id)).status is TaskStatus.FAILED
        assert (await bench.find(other.id)).status is TaskStatus.PENDING


async def test_a_lost_claim_is_named_and_changes_nothing(bench):
    bench.send()
    zombie = await bench.claim_one()
    await bench.settle(zombie, GiveBack(), None)
    heir = await bench.claim_one(worker=bench.new_worker())
    assert await bench.report(zombie, Succeeded(), b'{"ok":1}') == {zombie.claim}
    assert await bench.find(heir.id) == heir


async def test_a_lost_claim_does_not_keep_the_rest_of_its_batch(bench):
    bench.send()
    bench.send()
    lost, mine = await bench.claim()
    await bench.report(lost, Errored("BOOM"), bench.failed())
    async with bench.unit_of_work() as tx:
        reports = [RunReport(lost, Errored("X")), RunReport(mine, Succeeded(), b'{"ok":2}')]
        assert set(await bench.judge_runs(tx, reports)) == {lost.claim}
    assert (await bench.find(mine.id)).status is TaskStatus.COMPLETED


async def test_an_epoch_that_is_not_ours_cannot_settle(bench):
    bench.send()
    task = await bench.claim_one()
    forged = replace(task, epoch=task.epoch + 1)
    assert await bench.report(forged, Succeeded()) == {forged.claim}
