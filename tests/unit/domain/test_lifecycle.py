"""The transition table is the whole truth about a task's life."""

from collections.abc import Callable, Iterable
from itertools import product

import pytest

from horsies.domain.errors import HorsiesError
from horsies.domain.task_lifecycle import (
    IN_FLIGHT,
    TERMINAL,
    TRANSITIONS,
    IllegalTransitionError,
    TaskStatus,
    Trigger,
    advance,
    allowed,
)

EDGES = {
    ("PENDING", "claim", "CLAIMED"),
    ("PENDING", "cancel", "CANCELLED"),
    ("PENDING", "expire", "EXPIRED"),
    ("PENDING", "reject", "FAILED"),
    ("CLAIMED", "start", "RUNNING"),
    ("CLAIMED", "release", "PENDING"),
    ("CLAIMED", "cancel", "CANCELLED"),
    ("CLAIMED", "expire", "EXPIRED"),
    ("CLAIMED", "reject", "FAILED"),
    ("RUNNING", "complete", "COMPLETED"),
    ("RUNNING", "fail", "FAILED"),
    ("RUNNING", "retry", "PENDING"),
    ("RUNNING", "unbegun", "PENDING"),
    ("RUNNING", "cancel", "CANCELLED"),
    ("RUNNING", "reject", "FAILED"),
}
PAIRS = list(product(TaskStatus, Trigger))
LIVE = [status for status in TaskStatus if status not in TERMINAL]


def reachable_from(
    start: TaskStatus, onward: Callable[[TaskStatus], Iterable[TaskStatus]]
) -> set[TaskStatus]:
    seen, frontier = set[TaskStatus](), [start]
    while frontier:
        status = frontier.pop()
        if status not in seen:
            seen.add(status)
            frontier.extend(onward(status))
    return seen


def successors(status: TaskStatus) -> list[TaskStatus]:
    return [target for (source, _), target in TRANSITIONS.items() if source is status]


def test_the_table_holds_exactly_the_agreed_edges():
    table = {(str(source), str(cause), str(to)) for (source, cause), to in TRANSITIONS.items()}
    assert table == EDGES


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        TRANSITIONS[TaskStatus.COMPLETED, Trigger.CLAIM] = TaskStatus.CLAIMED


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_no_path_leaves_a_terminal_state(status: TaskStatus):
    assert successors(status) == []


@pytest.mark.parametrize(("status", "trigger"), PAIRS)
def test_every_pair_of_state_and_trigger_is_decided(status: TaskStatus, trigger: Trigger):
    try:
        decided = advance(status, trigger)
    except IllegalTransitionError:
        decided = None
    assert decided is TRANSITIONS.get((status, trigger))


@pytest.mark.parametrize(("status", "trigger"), PAIRS)
def test_allowed_agrees_with_advance(status: TaskStatus, trigger: Trigger):
    try:
        advance(status, trigger)
    except IllegalTransitionError:
        assert not allowed(status, trigger)
    else:
        assert allowed(status, trigger)


def test_an_illegal_transition_names_the_state_and_the_trigger():
    with pytest.raises(IllegalTransitionError, match="a COMPLETED task cannot claim"):
        advance(TaskStatus.COMPLETED, Trigger.CLAIM)


def test_an_illegal_transition_is_an_error_of_horsies():
    assert issubclass(IllegalTransitionError, HorsiesError)


def test_every_state_is_reachable_from_pending():
    assert reachable_from(TaskStatus.PENDING, successors) == set(TaskStatus)


@pytest.mark.parametrize("status", LIVE)
def test_every_live_state_can_reach_a_terminal_one(status: TaskStatus):
    assert reachable_from(status, successors) & TERMINAL


@pytest.mark.parametrize("trigger", Trigger)
def test_every_trigger_can_happen(trigger: Trigger):
    assert any(cause is trigger for _, cause in TRANSITIONS)


@pytest.mark.parametrize("status", TaskStatus)
def test_a_state_is_terminal_exactly_when_nothing_follows(status: TaskStatus):
    assert status.is_terminal == (successors(status) == [])


def test_in_flight_are_the_states_that_belong_to_a_worker():
    assert {TaskStatus.CLAIMED, TaskStatus.RUNNING} == IN_FLIGHT


def test_running_is_entered_by_a_start_alone():
    into = {cause for (_, cause), target in TRANSITIONS.items() if target is TaskStatus.RUNNING}
    assert into == {Trigger.START}


def test_a_running_task_does_not_expire():
    assert not allowed(TaskStatus.RUNNING, Trigger.EXPIRE)
