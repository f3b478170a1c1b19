"""A run that never began costs its task nothing but time."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.codes import OperationalErrorCode
from horsies.domain.outcome import (
    FIRST_UNRESOLVED_DELAY,
    GiveBack,
    Outcome,
    Reject,
    Standing,
    Unbegun,
    Unresolved,
    Verdict,
    judge,
)
from horsies.domain.retry import RetryPolicy
from tests.unit.domain.strategies import (
    EVEN,
    MICROSECOND,
    NOW,
    RULES,
    SECOND,
    policies,
    starts_in_a_life,
)

UNKNOWN_NAME = OperationalErrorCode.WORKER_RESOLUTION_ERROR
CRASH_PROOF = RetryPolicy.fixed([10] * 20, auto_retry_for=[OperationalErrorCode.WORKER_CRASHED])


def verdict_on(outcome: Outcome, **standing: object) -> Verdict:
    return judge(outcome, Standing(**standing), RULES, NOW, EVEN)


@given(policies(), st.integers(0, 20), st.integers(0, 5))
def test_an_unbegun_run_goes_back_and_is_not_called_unresolved(policy, retries, crashes):
    verdict = verdict_on(Unbegun(), policy=policy, retries=retries, crashes=crashes)
    assert isinstance(verdict, GiveBack)
    assert not verdict.unresolved


def test_an_unresolved_task_goes_back_for_five_seconds():
    verdict = verdict_on(Unresolved(UNKNOWN_NAME))
    assert verdict == GiveBack(NOW + FIRST_UNRESOLVED_DELAY, unresolved=UNKNOWN_NAME)
    assert timedelta(seconds=5) == FIRST_UNRESOLVED_DELAY


def test_the_delays_of_an_unresolved_task_double():
    since, now, delays = NOW, NOW, list[int]()
    for _ in range(6):
        standing = Standing(unresolved_since=since)
        verdict = judge(Unresolved(UNKNOWN_NAME), standing, RULES, now, EVEN)
        assert isinstance(verdict, GiveBack)
        delays.append((verdict.at - now) // SECOND)
        now = verdict.at
    assert delays == [5, 10, 20, 40, 80, 160]


def test_an_unresolved_task_is_rejected_when_the_grace_has_passed():
    since = NOW - RULES.unresolved_grace
    assert verdict_on(Unresolved(UNKNOWN_NAME), unresolved_since=since) == Reject(UNKNOWN_NAME)


def test_an_unresolved_task_goes_back_until_the_grace_has_passed():
    since = NOW - RULES.unresolved_grace + MICROSECOND
    assert isinstance(verdict_on(Unresolved(UNKNOWN_NAME), unresolved_since=since), GiveBack)


def test_the_grace_is_five_minutes_unless_told():
    assert RULES.unresolved_grace == timedelta(minutes=5)


@given(st.integers(1, 100))
def test_an_unresolved_task_spends_no_attempt(times):
    assert starts_in_a_life(CRASH_PROOF, [Unresolved(UNKNOWN_NAME)] * times, EVEN) == 0


@given(st.integers(1, 20))
def test_an_unbegun_task_spends_no_attempt(times):
    assert starts_in_a_life(CRASH_PROOF, [Unbegun()] * times, EVEN) == 0
