"""Silence means death only to an observer who has watched long enough."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.lease import (
    Watch,
    lapsed_cutoff,
    last_sign_of_life,
    next_judgement,
    renew_every,
    stale_cutoff,
)
from tests.unit.domain.strategies import MICROSECOND, NOW, SECOND, instants, seconds

THRESHOLD = 300 * SECOND
LONG_AGO = NOW - timedelta(days=1)


def watching_since(instant: datetime) -> Watch:
    return Watch(server_started_at=LONG_AGO, connected_since=instant)


@given(instants, instants)
def test_a_watch_begins_with_the_later_of_server_and_connection(server, connection):
    assert Watch(server, connection).since == max(server, connection)


@pytest.mark.parametrize("cutoff", [stale_cutoff, lapsed_cutoff])
@given(age=seconds, threshold=seconds, by_server=st.booleans())
def test_nobody_is_dead_while_the_watch_is_younger_than_the_threshold(
    cutoff, age, threshold, by_server
):
    young, old = NOW - age, NOW - timedelta(days=1)
    watch = Watch(young, old) if by_server else Watch(old, young)
    assert (cutoff(NOW, threshold, watch) is None) == (age < threshold)


@given(instants, instants, instants, seconds)
def test_staleness_counts_from_the_latest_of_life_server_and_connection(
    sign, server, connection, threshold
):
    cutoff = stale_cutoff(NOW, threshold, Watch(server, connection))
    stale = cutoff is not None and sign <= cutoff
    assert stale == (NOW - max(sign, server, connection) >= threshold)


def test_a_watch_of_exactly_the_threshold_is_old_enough_for_staleness():
    assert stale_cutoff(NOW, THRESHOLD, watching_since(NOW - THRESHOLD)) == NOW - THRESHOLD


def test_a_watch_just_under_the_threshold_is_too_young_for_staleness():
    assert stale_cutoff(NOW, THRESHOLD, watching_since(NOW - THRESHOLD + MICROSECOND)) is None


def test_a_long_watch_does_not_move_the_staleness_cutoff():
    assert stale_cutoff(NOW, THRESHOLD, watching_since(LONG_AGO)) == NOW - THRESHOLD


def test_a_lease_lapses_at_its_very_end():
    assert lapsed_cutoff(NOW, THRESHOLD, watching_since(LONG_AGO)) == NOW


def test_a_watch_of_exactly_a_lease_is_old_enough_to_call_it_lapsed():
    assert lapsed_cutoff(NOW, THRESHOLD, watching_since(NOW - THRESHOLD)) == NOW


def test_a_watch_just_under_a_lease_is_too_young_to_call_it_lapsed():
    assert lapsed_cutoff(NOW, THRESHOLD, watching_since(NOW - THRESHOLD + MICROSECOND)) is None


def test_a_restarted_server_forgives_all_silence():
    watch = Watch(server_started_at=NOW, connected_since=LONG_AGO)
    assert stale_cutoff(NOW, THRESHOLD, watch) is None


@given(st.lists(st.none() | instants))
def test_the_last_sign_of_life_is_the_latest_there_is(signs):
    known = [sign for sign in signs if sign is not None]
    assert last_sign_of_life(*signs) == (max(known) if known else None)


def test_a_lease_is_renewed_four_times_within_its_length():
    assert renew_every(60 * SECOND) == 15 * SECOND


LEASE = 60 * SECOND


@pytest.mark.parametrize(
    ("lapse", "since", "expected"),
    [
        (None, LONG_AGO, None),
        (NOW + SECOND, LONG_AGO, NOW + SECOND),
        (NOW, NOW - 59 * SECOND, NOW + SECOND),
        (NOW - LEASE, NOW - 59 * SECOND, NOW + SECOND),
        (NOW + 9 * SECOND, NOW - 59 * SECOND, NOW + 9 * SECOND),
    ],
)
def test_a_lapse_is_judged_once_it_has_come_and_the_watch_is_old_enough(lapse, since, expected):
    assert next_judgement(lapse, NOW, LEASE, watching_since(since)) == expected


@given(instants)
def test_a_lapse_that_could_be_judged_is_not_waited_for_again(lapse):
    if lapse <= NOW:
        assert next_judgement(lapse, NOW, LEASE, watching_since(LONG_AGO)) is None
