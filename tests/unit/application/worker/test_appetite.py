"""A worker asks for what it has room for, and does not ask again and again in vain."""

import pytest

from horsies.application.ports.executor import Capacity
from horsies.application.worker.appetite import Appetite
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.tick import Got
from horsies.domain.run_ahead import FIRST_REACH

LIGHT = frozenset({"light"})
FREE = Capacity(free=2)
BUSY = Capacity(free=0, in_line=100, light=LIGHT)


@pytest.fixture
def appetite() -> Appetite:
    return Appetite(Holdings(), prefetch_buffer=0, max_held=0, max_batch=0)


def asks(appetite: Appetite, capacity: Capacity) -> bool:
    return appetite.rooms(capacity, 0, due=False) != (None, None)


def note(appetite: Appetite, capacity: Capacity, **got: object) -> None:
    room, _ = appetite.rooms(capacity, 0, due=False)
    appetite.note(room, Got(**got))


def test_it_asks_at_first_and_whenever_it_is_woken(appetite):
    assert asks(appetite, FREE)
    note(appetite, FREE, claimed=0, wanted=2, exhausted=True)
    assert not asks(appetite, FREE)
    appetite.wake()
    assert asks(appetite, FREE)


def test_it_goes_on_while_it_gets_all_it_wants(appetite):
    note(appetite, FREE, claimed=2, wanted=2)
    assert asks(appetite, FREE)


def test_it_does_not_go_on_where_nothing_may_be_claimed(appetite):
    note(appetite, FREE, claimed=0, wanted=0)
    assert not asks(appetite, FREE)


def test_who_met_a_task_that_needs_a_place_waits_for_a_place(appetite):
    note(appetite, BUSY, claimed=3, wanted=FIRST_REACH)
    assert not asks(appetite, BUSY)
    room, _ = appetite.rooms(FREE, 0, due=False)
    assert (room.free_slots, room.in_line) == (2, 0)


def test_it_looks_ahead_in_steps_that_double(appetite):
    note(appetite, BUSY, claimed=FIRST_REACH, wanted=FIRST_REACH)
    room, _ = appetite.rooms(BUSY, 0, due=False)
    assert room.in_line == 2 * FIRST_REACH


def test_async_places_are_asked_for_by_themselves(appetite):
    room, async_room = appetite.rooms(Capacity(free=0, only_async=5), 0, due=False)
    assert room is None
    assert async_room.free_slots == 5
