"""A worker's own words are the agreed ones."""

from dataclasses import replace

import pytest

from horsies.domain.worker import (
    HeartbeatRole,
    Presence,
    PulseAnswer,
    Worker,
    WorkerState,
    state_shown,
)
from tests.unit.domain.strategies import NOW, SECOND, WORKER_ID


def test_the_states_of_a_worker_are_the_agreed_ones():
    assert [str(state) for state in WorkerState] == [
        "started",
        "idle",
        "busy",
        "suspended",
        "stopping",
    ]


def test_a_heartbeat_comes_from_the_claimer_or_the_runner():
    assert [str(role) for role in HeartbeatRole] == ["claimer", "runner"]


def test_a_new_worker_has_started_and_runs_nothing():
    worker = Worker(
        id=WORKER_ID,
        name="mule",
        hostname="stable",
        pid=1,
        queues=(),
        started_at=NOW,
        lease_until=NOW + 60 * SECOND,
    )
    assert (worker.state, worker.current) == (WorkerState.STARTED, ())


def test_a_pulse_is_answered_with_nothing_to_do_unless_told():
    nothing = PulseAnswer(lost=frozenset(), cancel_requested=frozenset(), suspended=False)
    assert PulseAnswer() == nothing


@pytest.mark.parametrize(
    ("so", "state"),
    [
        ({"serving": False}, WorkerState.STARTED),
        ({}, WorkerState.IDLE),
        ({"running": 1}, WorkerState.BUSY),
        ({"running": 1, "suspended": True}, WorkerState.SUSPENDED),
        ({"serving": False, "suspended": True}, WorkerState.STARTED),
        ({"running": 1, "suspended": True, "stopping": True}, WorkerState.STOPPING),
        ({"serving": False, "stopping": True}, WorkerState.STOPPING),
    ],
)
def test_a_worker_shows_what_matters_most(so, state):
    usual = {"serving": True, "stopping": False, "suspended": False, "running": 0}
    assert state_shown(**usual | so) is state


@pytest.fixture
def worker():
    return Worker(
        id=WORKER_ID,
        name="mule",
        hostname="stable",
        pid=1,
        queues=(),
        started_at=NOW,
        lease_until=NOW + 60 * SECOND,
    )


def test_a_worker_is_lost_when_its_lease_ends_unless_it_said_goodbye(worker):
    assert worker.presence(NOW + 59 * SECOND) is Presence.HERE
    assert worker.presence(NOW + 60 * SECOND) is Presence.LOST
    assert replace(worker, left_at=NOW).presence(NOW + 60 * SECOND) is Presence.LEFT


def test_who_listens_answers_a_ping_by_name_and_who_does_not_by_any_beat(worker):
    listening = replace(worker, hears=True, beat_at=NOW + SECOND)
    deaf = replace(worker, beat_at=NOW + SECOND)
    assert not listening.has_answered(NOW)
    assert replace(listening, pinged_at=NOW).has_answered(NOW)
    assert not replace(listening, pinged_at=NOW).has_answered(NOW + SECOND)
    assert deaf.has_answered(NOW)
    assert not deaf.has_answered(NOW + 2 * SECOND)
