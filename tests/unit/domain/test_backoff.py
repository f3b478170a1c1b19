"""Waits grow, spread and stay finite."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.backoff import JITTER, exponential, spread
from tests.unit.domain.strategies import EVEN, MICROSECOND, SECOND, jitters, seconds

HOUR = timedelta(hours=1)
huge = st.integers(33, 10**9)


def test_waits_are_spread_by_a_quarter():
    assert JITTER == 0.25


@given(seconds)
def test_the_even_draw_leaves_a_wait_as_it_is(delay):
    assert spread(delay, EVEN) == delay


@given(seconds, jitters)
def test_a_wait_is_spread_by_at_most_a_quarter(delay, jitter):
    assert 0.75 * delay <= spread(delay, jitter) <= 1.25 * delay


@given(seconds, jitters, jitters)
def test_a_higher_draw_never_shortens_a_wait(delay, one, other):
    assert spread(delay, min(one, other)) <= spread(delay, max(one, other))


@pytest.mark.parametrize(("failures", "wait"), [(0, 1), (1, 2), (2, 4), (5, 32)])
def test_a_wait_doubles_with_each_failure(failures, wait):
    assert exponential(SECOND, failures, HOUR, EVEN) == wait * SECOND


@given(seconds, st.integers(0, 40), seconds, jitters)
def test_a_wait_is_never_above_its_cap(initial, failures, cap, jitter):
    assert exponential(initial, failures, cap, jitter) <= cap


@given(seconds, st.integers(0, 20), seconds, jitters)
def test_a_capped_wait_is_at_least_three_quarters_of_what_it_would_be(
    initial, failures, cap, jitter
):
    nominal = min(initial * 2**failures, cap)
    assert exponential(initial, failures, cap, jitter) >= 0.75 * nominal


@given(seconds, st.integers(0, 40), seconds, jitters)
def test_another_failure_never_shortens_a_wait(initial, failures, cap, jitter):
    wait = exponential(initial, failures, cap, jitter)
    assert wait <= exponential(initial, failures + 1, cap, jitter)


def test_another_failure_never_shortens_a_wait_where_microseconds_are_rounded():
    initial, cap = 1000 * MICROSECOND, 1_023_590 * MICROSECOND
    assert exponential(initial, 10, cap, 0) <= exponential(initial, 11, cap, 0)


@given(seconds, huge, jitters)
def test_a_huge_number_of_failures_does_not_overflow_a_capped_wait(initial, failures, jitter):
    assert 0.75 * HOUR <= exponential(initial, failures, HOUR, jitter) <= HOUR


@given(st.integers(1, 10**4), huge, jitters)
def test_a_long_initial_wait_does_not_overflow_a_capped_one(days, failures, jitter):
    cap = timedelta(days=10**4)
    assert exponential(timedelta(days=days), failures, cap, jitter) <= cap
