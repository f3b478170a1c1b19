"""Time, identities and chance under the control of a test."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.adapters.memory.virtual_time import EvenDice, VirtualClock, VirtualIds
from horsies.domain.backoff import spread
from horsies.domain.ids import minted_at

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
spans = st.timedeltas(timedelta(0), timedelta(days=365))


def test_the_clock_stands_still():
    clock = VirtualClock(START)
    assert clock.now() == clock.now() == START


def test_the_clock_moves_when_it_is_told():
    clock = VirtualClock(START)
    clock.advance(timedelta(minutes=5))
    assert clock.now() == START + timedelta(minutes=5)


def test_the_clock_tells_utc_wherever_it_was_set():
    clock = VirtualClock(datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == START
    assert clock.now().utcoffset() == timedelta(0)


def test_a_clock_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="aware datetime"):
        VirtualClock(datetime(2026, 3, 1))  # noqa: DTZ001 - the fault under test


def test_time_does_not_run_backwards():
    clock = VirtualClock(START)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(timedelta(microseconds=-1))
    assert clock.now() == START


@given(st.lists(spans))
def test_advancing_to_an_instant_never_goes_back(instants):
    clock, latest = VirtualClock(START), START
    for span in instants:
        clock.advance_to(START + span)
        latest = max(latest, START + span)
        assert clock.now() == latest


@given(st.lists(spans, min_size=1, max_size=20))
def test_ids_are_distinct_ordered_and_carry_the_virtual_time(steps):
    clock = VirtualClock(START)
    ids = VirtualIds(clock)
    made = []
    for step in steps:
        clock.advance(step)
        made.append(ids.task_id())
        minted = minted_at(made[-1])
        assert minted is not None
        assert timedelta(0) <= clock.now() - minted < timedelta(milliseconds=1)
    assert made == sorted(set(made))


def test_ids_are_real_uuids_of_version_7():
    task_id = VirtualIds(VirtualClock(START)).task_id()
    assert (task_id.version, task_id.variant) == (7, "specified in RFC 4122")


def test_ids_are_the_same_in_every_run():
    one, two = (VirtualIds(VirtualClock(START)) for _ in range(2))
    assert [one.task_id() for _ in range(3)] == [two.task_id() for _ in range(3)]


def test_workers_and_tasks_share_no_ids():
    ids = VirtualIds(VirtualClock(START))
    assert len({ids.worker_id(), ids.task_id(), ids.worker_id(), ids.task_id()}) == 4


def test_even_dice_leave_waits_as_declared():
    dice = EvenDice()
    assert spread(timedelta(seconds=60), dice.roll()) == timedelta(seconds=60)
