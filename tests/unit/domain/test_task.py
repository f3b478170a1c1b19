"""A task changes only along its edges, and each edge writes only what it must."""

from collections.abc import Callable
from datetime import datetime
from itertools import product

import pytest
from hypothesis import given

from horsies.domain.codes import OutcomeErrorCode
from horsies.domain.outcome import (
    Cancel,
    Complete,
    Crashed,
    Errored,
    Fail,
    GiveBack,
    Reject,
    RetryAt,
    Standing,
    Unbegun,
    Unresolved,
)
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import (
    DEFAULT_PRIORITY,
    Attempt,
    Claim,
    Task,
    Terms,
)
from horsies.domain.task_lifecycle import IllegalTransitionError, TaskStatus, Trigger, allowed
from tests.unit.domain.strategies import (
    BOOM,
    NOW,
    SECOND,
    TASK_ID,
    WORKER_ID,
    claimed,
    in_state,
    instants,
    new_task,
    pending,
    running,
    seconds,
    settle,
    uuid7_at,
)

LATER = NOW + 60 * SECOND
TWICE = RetryPolicy.fixed([10, 20], auto_retry_for=[BOOM, "WORKER_CRASHED"])
POLICY = Terms(retry=TWICE)

EDGES: dict[Trigger, Callable[[Task], Task]] = {
    Trigger.CLAIM: lambda task: task.claimed(WORKER_ID, NOW),
    Trigger.START: lambda task: task.started(NOW),
    Trigger.COMPLETE: lambda task: task.settled(Complete(), NOW, b"1"),
    Trigger.FAIL: lambda task: task.settled(Fail(BOOM), NOW, b"1"),
    Trigger.RETRY: lambda task: task.settled(RetryAt(NOW, BOOM), NOW, None),
    Trigger.UNBEGUN: lambda task: task.settled(GiveBack(NOW), NOW, None),
    Trigger.RELEASE: lambda task: task.released(NOW),
    Trigger.REJECT: lambda task: task.rejected(BOOM, NOW, None),
    Trigger.CANCEL: lambda task: task.cancelled(NOW),
    Trigger.EXPIRE: lambda task: task.expired(NOW),
}


@pytest.mark.parametrize(("status", "trigger"), list(product(TaskStatus, Trigger)))
def test_a_task_takes_an_edge_exactly_when_the_table_allows_it(
    status: TaskStatus, trigger: Trigger
):
    try:
        EDGES[trigger](in_state(status))
    except IllegalTransitionError:
        assert not allowed(status, trigger)
    else:
        assert allowed(status, trigger)


@given(instants)
def test_a_task_without_delay_is_eligible_at_once(now: datetime):
    assert new_task().eligible_at(now) == now


@given(instants, seconds)
def test_a_delayed_task_is_eligible_after_its_delay(now: datetime, delay):
    assert new_task(delay=delay).eligible_at(now) == now + delay


@given(instants, instants)
def test_an_eta_is_the_eligible_time_unless_it_has_passed(now: datetime, eta: datetime):
    assert new_task(eta=eta).eligible_at(now) == max(eta, now)


def test_a_task_keeps_the_priority_in_the_middle_unless_told():
    assert pending().priority == DEFAULT_PRIORITY == 50


def test_a_task_sent_without_delay_is_claimable():
    assert pending().claimable


def test_a_delayed_task_is_not_claimable_until_promoted():
    assert not pending(delay=SECOND).claimable


def test_promotion_makes_a_delayed_task_claimable():
    assert pending(delay=SECOND).promoted().claimable


def test_a_sent_task_holds_everything_that_was_sent():
    new = new_task(
        payload=b'{"n": 1}',
        priority=3,
        good_until=LATER,
        terms=POLICY,
        headers={"traceparent": "00"},
        retry_of=uuid7_at(NOW),
    )
    task = Task.sent(new, NOW)
    for field in ("id", "name", "queue", "payload", "priority", "terms", "good_until", "headers"):
        assert getattr(task, field) == getattr(new, field)
    assert task.retry_of == new.retry_of


def test_a_new_task_has_no_history():
    task = pending()
    assert (task.epoch, task.attempt, task.retries, task.crashes) == (0, 0, 0, 0)


def test_a_claim_names_the_task_and_its_epoch():
    assert claimed().claim == Claim(TASK_ID, 1)


def test_an_old_claim_differs_from_the_next():
    first = claimed()
    assert first.released(NOW).claimed(WORKER_ID, NOW).claim != first.claim


def test_a_start_is_recorded_with_its_time():
    assert claimed().started(LATER).started_at == LATER


def test_a_claim_is_recorded_with_its_time():
    assert pending().claimed(WORKER_ID, LATER).claimed_at == LATER


def test_a_released_task_is_claimable_at_once():
    assert claimed().released(NOW).claimable


def test_a_retry_waits_for_its_time():
    task = running().settled(RetryAt(LATER, BOOM), NOW, None)
    assert (task.enqueued_at, task.next_retry_at, task.claimable) == (LATER, LATER, False)


def test_a_retry_that_is_due_is_claimable():
    assert running().settled(RetryAt(NOW, BOOM), NOW, None).claimable


def test_a_retry_counts():
    assert running().settled(RetryAt(LATER, BOOM), NOW, None).retries == 1


def test_a_free_retry_does_not_count():
    assert running().settled(RetryAt(NOW, BOOM, free=True), NOW, None).retries == 0


def test_a_free_retry_keeps_its_attempt():
    assert running().settled(RetryAt(NOW, BOOM, free=True), NOW, None).attempt == 1


def test_a_completed_task_holds_its_result_and_no_error():
    task = running().settled(Complete(), LATER, b"42")
    assert (task.status, task.result, task.error_code) == (TaskStatus.COMPLETED, b"42", None)


def test_a_failed_task_holds_its_result_and_its_error():
    task = running().settled(Fail(BOOM), LATER, b"err")
    assert (task.status, task.result, task.error_code) == (TaskStatus.FAILED, b"err", BOOM)


def test_a_cancelled_run_holds_no_result():
    task = running().settled(Cancel(), LATER, b"42")
    assert (task.status, task.result) == (TaskStatus.CANCELLED, None)


def test_a_rejected_run_counts_as_no_attempt():
    task = running().settled(Reject(BOOM), LATER, b"err")
    assert (task.status, task.attempt, task.started_at) == (TaskStatus.FAILED, 0, None)


@pytest.mark.parametrize("task", [pending(), claimed()], ids=["pending", "claimed"])
def test_rejecting_what_did_not_run_leaves_its_attempts_alone(task: Task):
    assert task.rejected(BOOM, LATER, None).attempt == task.attempt


def test_a_rejected_task_says_why():
    assert pending().rejected(BOOM, LATER, b"err").error_code == BOOM


def test_a_run_given_back_counts_as_no_attempt():
    assert running().settled(GiveBack(NOW), NOW, None).attempt == 0


def test_the_grace_of_an_unresolved_task_begins_when_it_is_first_given_back():
    task = running().settled(GiveBack(LATER, unresolved=True), NOW, None)
    assert task.unresolved_since == NOW


def test_the_grace_of_an_unresolved_task_is_not_prolonged_by_the_next_time():
    once = running().settled(GiveBack(LATER, unresolved=True), NOW, None)
    again = once.claimed(WORKER_ID, LATER).started(LATER)
    assert again.settled(GiveBack(LATER, unresolved=True), LATER, None).unresolved_since == NOW


def test_giving_back_an_unbegun_task_starts_no_grace():
    assert running().settled(GiveBack(NOW), NOW, None).unresolved_since is None


@pytest.mark.parametrize("outcome", [Errored(BOOM), Crashed()], ids=["errored", "crashed"])
def test_a_run_that_began_ends_the_grace_of_an_unresolved_task(outcome):
    """Some worker understood it; else the reaper would reject a task that waits for its retry."""
    once = settle(running(terms=POLICY), Unresolved(BOOM), NOW)
    began = once.claimed(WORKER_ID, LATER).started(LATER)
    assert settle(began, outcome, LATER).unresolved_since is None


def test_an_unbegun_task_is_claimable_at_once():
    assert settle(running(), Unbegun(), LATER).claimable


def test_an_unbegun_task_keeps_its_place_in_the_queue():
    """Given back as if it had never been handed out: only delay and retry move it."""
    assert settle(running(), Unbegun(), LATER).enqueued_at == NOW


@pytest.mark.parametrize("outcome", [Unbegun(), Unresolved(BOOM)], ids=["unbegun", "unresolved"])
def test_cancelling_a_run_that_never_began_leaves_no_attempt(outcome):
    assert settle(running().cancel_requested(NOW), outcome, LATER).attempt == 0


def test_a_cancel_request_keeps_the_time_of_the_first():
    assert running().cancel_requested(NOW).cancel_requested(LATER).cancel_requested_at == NOW


def test_a_cancel_request_leaves_a_running_task_running():
    assert running().cancel_requested(NOW).status is TaskStatus.RUNNING


def test_the_standing_of_a_fresh_task_is_clean():
    assert pending().standing == Standing()


def test_the_standing_tells_the_judge_what_has_happened():
    task = pending(terms=POLICY, good_until=LATER)
    task = task.claimed(WORKER_ID, NOW).started(NOW).crash_counted().cancel_requested(NOW)
    assert task.standing == Standing(
        crashes=1, policy=TWICE, good_until=LATER, cancel_requested=True
    )


def test_the_standing_counts_retries_and_the_grace():
    once = settle(running(terms=POLICY), Errored(BOOM), NOW)
    again = settle(once.claimed(WORKER_ID, NOW).started(NOW), Unresolved(BOOM), LATER)
    assert (again.standing.retries, again.standing.unresolved_since) == (1, LATER)


def test_an_ended_attempt_is_recorded_in_full():
    assert running().attempt_ended(LATER, BOOM, b"err") == Attempt(
        task_id=TASK_ID,
        epoch=1,
        number=1,
        worker=WORKER_ID,
        started_at=NOW,
        finished_at=LATER,
        error_code=BOOM,
        result=b"err",
    )


def test_the_final_attempt_is_read_off_the_ended_task():
    ended = running().settled(Fail(BOOM), LATER, b"err")
    assert ended.final_attempt() == running().attempt_ended(LATER, BOOM, b"err")


@pytest.mark.parametrize(
    "task",
    [pending().cancelled(NOW), claimed().expired(NOW), running().rejected(BOOM, NOW, None)],
    ids=["cancelled", "expired", "rejected"],
)
def test_a_task_that_never_began_has_no_final_attempt(task: Task):
    assert task.final_attempt() is None


@pytest.mark.parametrize("task", [pending(), claimed(), running()], ids=lambda task: task.status)
def test_a_live_task_has_no_final_attempt(task: Task):
    assert task.final_attempt() is None


def test_a_cancelled_task_says_so_in_its_code():
    assert running().cancelled(NOW).error_code == OutcomeErrorCode.TASK_CANCELLED


def test_an_expired_task_says_so_in_its_code():
    assert claimed().expired(NOW).error_code == OutcomeErrorCode.TASK_EXPIRED


def test_a_result_is_not_shown_in_the_repr_of_a_task():
    assert "secret" not in repr(running().settled(Complete(), NOW, b"secret"))
