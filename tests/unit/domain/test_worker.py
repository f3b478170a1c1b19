"""A worker's own words are the agreed ones."""

from horsies.domain.worker import HeartbeatRole, PulseAnswer, Worker, WorkerState
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
    assert PulseAnswer() == PulseAnswer(lost=frozenset(), cancel_requested=frozenset())
