"""Short tasks stand in line, and never for long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.run_ahead import (
    FIRST_REACH,
    MOST_IN_LINE,
    is_short,
    may_wait_in_line,
    measured,
    next_reach,
    room_in_line,
)
from horsies.domain.task import NO_TERMS, NOT_AGREED

seconds = st.floats(0, 10)


@given(seconds, seconds)
def test_a_pace_lies_between_what_it_was_and_what_was_measured(pace, sample):
    assert min(pace, sample) <= measured(pace, sample) <= max(pace, sample)


def test_the_first_run_is_all_there_is_to_go_by():
    assert measured(None, 0.25) == 0.25


def test_what_was_never_measured_is_not_short():
    assert not is_short(None, 0.005)


def test_without_a_line_nothing_is_short():
    assert not is_short(0.001, 0.0)


@given(st.integers(0, 2_000), st.floats(1e-6, 1), st.floats(1e-6, 0.1))
def test_the_predicted_work_of_a_line_is_never_longer_than_the_line(queued, pace, line):
    room = room_in_line(queued, pace, line)
    assert room == 0 or (room + queued) * pace <= line * 1.000_001
    assert room + queued <= max(queued, MOST_IN_LINE)


def test_a_reach_that_met_nothing_doubles_and_one_that_did_begins_anew():
    assert next_reach(FIRST_REACH, 16, 16) == 2 * FIRST_REACH
    assert next_reach(1_024, 1_024, 3) == FIRST_REACH


LIGHT = frozenset({"light"})


@pytest.mark.parametrize(
    ("name", "terms", "crashes", "expires"),
    [
        ("heavy", NO_TERMS, 0, False),
        ("light", NOT_AGREED, 0, False),
        ("light", NO_TERMS, 1, False),
        ("light", NO_TERMS, 0, True),
    ],
)
def test_who_needs_a_place_never_stands_in_line(name, terms, crashes, expires):
    assert not may_wait_in_line(name, terms, crashes, expires=expires, light=LIGHT)


def test_light_tasks_may_stand_in_line():
    assert may_wait_in_line("light", NO_TERMS, 0, expires=False, light=LIGHT)
