"""A retry policy is bounded, and says what is wrong with it instead of raising."""

from datetime import timedelta
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.codes import OperationalErrorCode
from horsies.domain.retry import (
    IDEMPOTENT_DEFAULT,
    LONGEST_DELAY,
    MAX_RETRIES,
    Exponential,
    FixedDelays,
    RetryPolicy,
)
from tests.unit.domain.strategies import (
    BOOM,
    EVEN,
    MICROSECOND,
    SECOND,
    exponential_policies,
    fixed_policies,
    jitters,
    policies,
)

CRASHED = OperationalErrorCode.WORKER_CRASHED
SHUTDOWN = OperationalErrorCode.WORKER_SHUTDOWN

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.integers()),
    max_leaves=5,
)


@given(fixed_policies(), jitters)
def test_every_fixed_delay_stays_within_a_quarter_of_what_was_asked(policy, jitter):
    for retry, delay in enumerate(policy.backoff.delays, start=1):
        assert 0.75 * delay <= policy.delay_before(retry, jitter) <= 1.25 * delay


@given(exponential_policies(), jitters, st.integers(1, MAX_RETRIES))
def test_every_exponential_delay_stays_within_a_quarter_and_under_the_cap(policy, jitter, retry):
    nominal = min(policy.backoff.base * 2 ** (retry - 1), policy.backoff.max_delay)
    wait = policy.delay_before(retry, jitter)
    assert 0.75 * nominal <= wait <= min(1.25 * nominal, policy.backoff.max_delay)


@given(exponential_policies(), jitters, st.integers(1, MAX_RETRIES - 1))
def test_exponential_delays_never_shrink_from_one_retry_to_the_next(policy, jitter, retry):
    assert policy.delay_before(retry, jitter) <= policy.delay_before(retry + 1, jitter)


@given(st.lists(st.integers(0, 3600), min_size=1, max_size=MAX_RETRIES), jitters)
def test_rising_fixed_delays_stay_rising(delays, jitter):
    policy = RetryPolicy.fixed(sorted(delays))
    waits = [policy.delay_before(n, jitter) for n in range(1, policy.max_retries + 1)]
    assert waits == sorted(waits)


@given(fixed_policies(), jitters, st.integers(1, 100))
def test_the_last_fixed_delay_holds_for_whatever_follows(policy, jitter, beyond):
    last = policy.max_retries
    assert policy.delay_before(last + beyond, jitter) == policy.delay_before(last, jitter)


def test_a_fixed_policy_grants_one_retry_per_delay():
    assert RetryPolicy.fixed([1, 5, 25]).max_retries == 3


def test_delays_are_seconds_or_timedeltas():
    policy = RetryPolicy.fixed([1, 0.5, timedelta(minutes=1)])
    assert policy.backoff == FixedDelays((SECOND, SECOND / 2, 60 * SECOND))


def test_an_exponential_policy_doubles_its_base():
    policy = RetryPolicy.exponential(2, max_retries=4)
    waits = [policy.delay_before(n, EVEN) // SECOND for n in (1, 2, 3, 4)]
    assert waits == [2, 4, 8, 16]


def test_an_exponential_policy_has_three_retries_within_an_hour_unless_told():
    policy = RetryPolicy.exponential(1)
    assert (policy.max_retries, policy.backoff) == (3, Exponential(SECOND, timedelta(hours=1)))


@pytest.mark.parametrize("policy", [RetryPolicy.fixed([1]), RetryPolicy.exponential(1)])
def test_exceptions_are_retried_unless_told(policy):
    assert (policy.exceptions, policy.codes) == ((Exception,), frozenset())


def test_an_idempotent_task_is_retried_three_times_after_a_crash():
    assert (IDEMPOTENT_DEFAULT.max_retries, IDEMPOTENT_DEFAULT.codes) == (3, {CRASHED})


def test_an_idempotent_task_is_retried_for_nothing_but_a_crash():
    assert not IDEMPOTENT_DEFAULT.covers_exception(Exception())


def test_the_policy_of_idempotent_tasks_has_no_problems():
    assert IDEMPOTENT_DEFAULT.problems == ()


@given(policies())
def test_a_sound_policy_has_no_problems(policy):
    assert policy.problems == ()


@pytest.mark.parametrize(
    "delays",
    [
        [],
        [1] * 21,
        [-1],
        [1, -0.5],
        [nan],
        [inf],
        [-inf],
        [1e300],
        [10**400],
        [timedelta(days=-1)],
        [LONGEST_DELAY + MICROSECOND],
        ["1"],
        [None],
        [True],
        [[1]],
        "123",
        b"123",
        None,
        5,
        {1, 2},
        (n for n in (1, 2)),
    ],
    ids=lambda delays: repr(delays)[:30],
)
def test_bad_delays_are_a_problem(delays):
    assert RetryPolicy.fixed(delays).problems


@pytest.mark.parametrize("base", [0, -1, nan, inf, "1", None, True, timedelta(0), 10**400])
def test_a_bad_base_is_a_problem(base):
    assert RetryPolicy.exponential(base).problems


@pytest.mark.parametrize("max_delay", [0.5, 0, -1, nan, inf, "1", None, True, LONGEST_DELAY * 2])
def test_a_bad_max_delay_is_a_problem(max_delay):
    assert RetryPolicy.exponential(1, max_delay=max_delay).problems


@pytest.mark.parametrize("max_retries", [0, -1, 21, 1.0, nan, "3", None, True])
def test_a_bad_number_of_retries_is_a_problem(max_retries):
    assert RetryPolicy.exponential(1, max_retries=max_retries).problems


@pytest.mark.parametrize(
    "reasons",
    [[], "", [""], None, 5, [5], [None], [int], [ValueError()], b"CODE", ["CODE", 5]],
    ids=repr,
)
def test_bad_reasons_are_a_problem(reasons):
    assert RetryPolicy.fixed([1], auto_retry_for=reasons).problems


def test_max_delay_may_equal_the_base():
    assert RetryPolicy.exponential(1, max_delay=1).problems == ()


@pytest.mark.parametrize("count", [1, 20])
def test_one_to_twenty_retries_are_fine(count):
    assert RetryPolicy.fixed([0] * count).problems == ()


def test_the_longest_delay_is_still_fine():
    assert RetryPolicy.fixed([LONGEST_DELAY]).problems == ()


def test_all_problems_are_told_together():
    policy = RetryPolicy.exponential(-1, max_retries=0, max_delay="1", auto_retry_for=[5])
    assert len(policy.problems) == 4


def test_a_problem_names_what_was_given():
    (problem,) = RetryPolicy.fixed(["soon"]).problems
    assert problem == "delay must be seconds or a timedelta, not 'soon'"


@given(anything, anything)
def test_no_fixed_policy_is_bad_enough_to_raise(delays, reasons):
    RetryPolicy.fixed(delays, auto_retry_for=reasons)


@given(anything, anything, anything, anything)
def test_no_exponential_policy_is_bad_enough_to_raise(base, max_retries, max_delay, reasons):
    RetryPolicy.exponential(base, max_retries, max_delay, auto_retry_for=reasons)


def test_codes_and_exception_classes_may_be_listed_together():
    policy = RetryPolicy.fixed([1], auto_retry_for=[BOOM, KeyError, CRASHED])
    assert (policy.codes, policy.exceptions) == ({BOOM, CRASHED}, (KeyError,))


@pytest.mark.parametrize("reason", [BOOM, KeyError])
def test_a_single_reason_needs_no_list(reason):
    assert RetryPolicy.fixed([1], auto_retry_for=reason) == RetryPolicy.fixed(
        [1], auto_retry_for=[reason]
    )


def test_a_listed_code_is_covered_and_no_other():
    policy = RetryPolicy.fixed([1], auto_retry_for=[BOOM])
    assert (policy.covers(BOOM), policy.covers("OTHER")) == (True, False)


def test_a_built_in_code_is_covered_by_its_name():
    assert RetryPolicy.fixed([1], auto_retry_for=["WORKER_CRASHED"]).covers(CRASHED)


@pytest.mark.parametrize(
    ("raised", "covered"),
    [(LookupError(), True), (KeyError(), True), (ValueError(), False), (Exception(), False)],
    ids=repr,
)
def test_an_exception_class_covers_its_subclasses(raised, covered):
    policy = RetryPolicy.fixed([1], auto_retry_for=[LookupError])
    assert policy.covers_exception(raised) is covered


def test_codes_cover_no_exception():
    assert not RetryPolicy.fixed([1], auto_retry_for=[BOOM]).covers_exception(Exception(BOOM))


@given(policies())
def test_including_a_code_covers_it_and_changes_nothing_else(policy):
    wider = policy.including("EXTRA")
    assert wider.codes == policy.codes | {"EXTRA"}
    assert (wider.backoff, wider.max_retries, wider.exceptions) == (
        policy.backoff,
        policy.max_retries,
        policy.exceptions,
    )


def test_a_snapshot_leaves_exception_classes_behind():
    policy = RetryPolicy.fixed([1], auto_retry_for=[BOOM, KeyError])
    assert policy.snapshot() == RetryPolicy.fixed([1], auto_retry_for=[BOOM])


@pytest.mark.parametrize(
    ("reason", "survives"), [(CRASHED, True), (SHUTDOWN, True), (BOOM, False), (Exception, False)]
)
def test_a_shutdown_is_survived_only_if_it_or_a_crash_is_listed(reason, survives):
    assert RetryPolicy.fixed([1], auto_retry_for=[reason]).survives_shutdown is survives
