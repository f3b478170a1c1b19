"""What the end of a run means for its task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode
from horsies.domain.outcome import (
    Cancel,
    Complete,
    Crashed,
    Errored,
    Fail,
    Interrupted,
    Outcome,
    RetryAt,
    Rules,
    ShutDown,
    Standing,
    Succeeded,
    Unbegun,
    Unresolved,
    Verdict,
    is_expired,
    judge,
)
from horsies.domain.retry import IDEMPOTENT_DEFAULT, RetryPolicy
from tests.unit.domain.strategies import (
    BOOM,
    EVEN,
    MICROSECOND,
    NOW,
    RULES,
    SECOND,
    bad_ends,
    errors,
    jitters,
    outcomes,
    policies,
    starts_in_a_life,
)

CRASHED = OperationalErrorCode.WORKER_CRASHED
SHUTDOWN = OperationalErrorCode.WORKER_SHUTDOWN
UNKNOWN_NAME = OperationalErrorCode.WORKER_RESOLUTION_ERROR
CRASH_PROOF = RetryPolicy.fixed([10] * 20, auto_retry_for=[CRASHED])
FOR_BOOM = RetryPolicy.fixed([10, 20], auto_retry_for=[BOOM])


def verdict_on(outcome: Outcome, rules: Rules = RULES, **standing: object) -> Verdict:
    return judge(outcome, Standing(**standing), rules, NOW, EVEN)


@given(policies(), st.lists(bad_ends, max_size=30), jitters)
def test_a_task_starts_at_most_once_more_than_its_retries(policy, ends, jitter):
    assert starts_in_a_life(policy, ends, jitter) <= 1 + policy.max_retries


@given(st.lists(bad_ends | st.just(ShutDown()), min_size=1, max_size=10), jitters)
def test_a_task_without_policy_starts_once(ends, jitter):
    assert starts_in_a_life(None, ends, jitter) == 1


@given(policies(), st.lists(bad_ends | st.just(ShutDown()), max_size=30), jitters)
def test_only_shutdowns_allow_more_starts_than_the_retries(policy, ends, jitter):
    shutdowns = ends.count(ShutDown())
    assert starts_in_a_life(policy, ends, jitter) <= 1 + policy.max_retries + shutdowns


@given(policies(), jitters)
def test_a_task_that_always_fails_for_a_listed_reason_uses_all_its_retries(policy, jitter):
    ends = [Errored(BOOM, retryable=True)] * 30
    assert starts_in_a_life(policy, ends, jitter) == 1 + policy.max_retries


def test_a_task_that_always_kills_its_worker_starts_three_times():
    assert starts_in_a_life(CRASH_PROOF, [Crashed()] * 30, EVEN) == 3


@given(policies(), st.booleans(), st.integers(0, 20), st.integers(0, 5))
def test_a_normal_return_stands_whatever_was_asked(policy, cancel_requested, retries, crashes):
    verdict = verdict_on(
        Succeeded(),
        policy=policy,
        cancel_requested=cancel_requested,
        retries=retries,
        crashes=crashes,
    )
    assert verdict == Complete()


def test_an_error_without_policy_fails():
    assert verdict_on(Errored(BOOM)) == Fail(BOOM)


def test_an_error_without_policy_fails_even_if_the_child_calls_it_retryable():
    assert verdict_on(Errored(BOOM, retryable=True)) == Fail(BOOM)


def test_a_listed_code_is_retried_after_the_delay():
    assert verdict_on(Errored(BOOM), policy=FOR_BOOM) == RetryAt(NOW + 10 * SECOND, BOOM)


def test_the_second_retry_waits_for_the_second_delay():
    verdict = verdict_on(Errored(BOOM), policy=FOR_BOOM, retries=1)
    assert verdict == RetryAt(NOW + 20 * SECOND, BOOM)


def test_a_code_that_is_not_listed_fails():
    assert verdict_on(Errored("OTHER"), policy=FOR_BOOM) == Fail("OTHER")


def test_an_exception_that_the_child_matched_is_retried():
    verdict = verdict_on(Errored("OTHER", retryable=True), policy=FOR_BOOM)
    assert verdict == RetryAt(NOW + 10 * SECOND, "OTHER")


def test_an_error_fails_once_the_retries_are_used_up():
    assert verdict_on(Errored(BOOM), policy=FOR_BOOM, retries=2) == Fail(BOOM)


@given(policies(), jitters)
def test_a_retry_waits_as_long_as_its_policy_says(policy, jitter):
    verdict = judge(Errored(BOOM, retryable=True), Standing(policy=policy), RULES, NOW, jitter)
    assert verdict == RetryAt(NOW + policy.delay_before(1, jitter), BOOM)


def test_a_crash_without_policy_fails():
    assert verdict_on(Crashed()) == Fail(CRASHED)


def test_a_crash_is_not_retried_unless_it_is_listed():
    assert verdict_on(Crashed(), policy=FOR_BOOM) == Fail(CRASHED)


def test_listing_the_shutdown_does_not_cover_a_crash():
    policy = RetryPolicy.fixed([1], auto_retry_for=[SHUTDOWN])
    assert verdict_on(Crashed(), policy=policy) == Fail(CRASHED)


def test_listing_every_exception_does_not_cover_a_crash():
    policy = RetryPolicy.fixed([1], auto_retry_for=[BaseException])
    assert verdict_on(Crashed(), policy=policy) == Fail(CRASHED)


def test_a_listed_crash_is_retried():
    assert verdict_on(Crashed(), policy=CRASH_PROOF) == RetryAt(NOW + 10 * SECOND, CRASHED)


def test_a_listed_crash_fails_once_the_retries_are_used_up():
    assert verdict_on(Crashed(), policy=CRASH_PROOF, retries=20) == Fail(CRASHED)


def test_an_idempotent_task_is_retried_after_a_crash():
    assert isinstance(verdict_on(Crashed(), policy=IDEMPOTENT_DEFAULT), RetryAt)


def test_the_second_crash_is_not_yet_quarantined():
    assert isinstance(verdict_on(Crashed(), policy=CRASH_PROOF, crashes=1), RetryAt)


@pytest.mark.parametrize("policy", [None, FOR_BOOM, CRASH_PROOF], ids=["none", "other", "listed"])
def test_the_third_crash_is_quarantined(policy):
    verdict = verdict_on(Crashed(), policy=policy, crashes=2)
    assert verdict == Fail(OutcomeErrorCode.TASK_QUARANTINED)


@given(st.integers(1, 10), st.integers(0, 20))
def test_the_quarantine_comes_with_the_crash_that_reaches_the_limit(limit, crashes):
    verdict = verdict_on(
        Crashed(), Rules(max_worker_crashes=limit), policy=CRASH_PROOF, crashes=crashes
    )
    assert (verdict == Fail(OutcomeErrorCode.TASK_QUARANTINED)) == (crashes + 1 >= limit)


@pytest.mark.parametrize("code", [CRASHED, SHUTDOWN])
def test_a_listed_shutdown_is_retried_at_once_and_free(code):
    policy = RetryPolicy.fixed([10], auto_retry_for=[code])
    assert verdict_on(ShutDown(), policy=policy) == RetryAt(NOW, SHUTDOWN, free=True)


def test_a_shutdown_is_retried_although_the_retries_are_used_up():
    verdict = verdict_on(ShutDown(), policy=CRASH_PROOF, retries=20)
    assert verdict == RetryAt(NOW, SHUTDOWN, free=True)


@pytest.mark.parametrize("policy", [None, FOR_BOOM], ids=["none", "other"])
def test_a_shutdown_that_is_not_listed_fails(policy):
    assert verdict_on(ShutDown(), policy=policy) == Fail(SHUTDOWN)


def test_a_shutdown_past_good_until_fails():
    assert verdict_on(ShutDown(), policy=CRASH_PROOF, good_until=NOW) == Fail(SHUTDOWN)


@given(policies(), outcomes, jitters)
def test_a_cancel_request_forbids_any_retry(policy, outcome, jitter):
    standing = Standing(policy=policy, cancel_requested=True)
    assert not isinstance(judge(outcome, standing, RULES, NOW, jitter), RetryAt)


@pytest.mark.parametrize("crashes", [0, 2], ids=["first", "third"])
def test_a_crash_after_a_cancel_request_is_cancelled(crashes):
    verdict = verdict_on(Crashed(), policy=CRASH_PROOF, cancel_requested=True, crashes=crashes)
    assert verdict == Cancel()


def test_a_shutdown_after_a_cancel_request_is_cancelled():
    assert verdict_on(ShutDown(), policy=CRASH_PROOF, cancel_requested=True) == Cancel()


def test_an_unresolved_task_with_a_cancel_request_is_cancelled():
    assert isinstance(verdict_on(Unresolved(UNKNOWN_NAME), cancel_requested=True), Cancel)


def test_an_unbegun_task_with_a_cancel_request_is_cancelled():
    """After a cancel commits there is no new start: it must not go back to the queue."""
    assert isinstance(verdict_on(Unbegun(), cancel_requested=True), Cancel)


def test_a_returned_error_stands_after_a_cancel_request():
    assert verdict_on(Errored(BOOM), policy=FOR_BOOM, cancel_requested=True) == Fail(BOOM)


def test_an_interrupted_task_is_cancelled():
    assert verdict_on(Interrupted(), policy=CRASH_PROOF) == Cancel()


@given(policies(), bad_ends, jitters, st.integers(-100, 10**5))
def test_a_retry_never_lands_at_or_after_good_until(policy, outcome, jitter, offset):
    good_until = NOW + offset * SECOND
    standing = Standing(policy=policy, good_until=good_until)
    verdict = judge(outcome, standing, RULES, NOW, jitter)
    assert not isinstance(verdict, RetryAt) or verdict.at < good_until


def test_a_retry_that_would_land_exactly_at_good_until_fails():
    good_until = NOW + 10 * SECOND
    assert verdict_on(Errored(BOOM), policy=FOR_BOOM, good_until=good_until) == Fail(BOOM)


def test_a_retry_that_lands_just_before_good_until_is_scheduled():
    good_until = NOW + 10 * SECOND + MICROSECOND
    verdict = verdict_on(Errored(BOOM), policy=FOR_BOOM, good_until=good_until)
    assert verdict == RetryAt(NOW + 10 * SECOND, BOOM)


@pytest.mark.parametrize(
    ("good_until", "expired"),
    [(None, False), (NOW + MICROSECOND, False), (NOW, True), (NOW - MICROSECOND, True)],
)
def test_a_start_is_too_late_from_good_until_on(good_until, expired):
    assert is_expired(good_until, NOW) is expired


@given(policies(), errors, jitters)
def test_what_is_retried_keeps_the_code_of_its_failure(policy, outcome, jitter):
    verdict = judge(outcome, Standing(policy=policy), RULES, NOW, jitter)
    assert isinstance(verdict, RetryAt | Fail)
    assert verdict.code == outcome.code


def test_three_crashes_are_the_limit_unless_told():
    assert RULES.max_worker_crashes == 3
