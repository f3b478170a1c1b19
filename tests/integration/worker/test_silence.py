"""A living worker whose child shows no sign of life: the owner notices, kills and settles."""

import os
import signal

import pytest

from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import Scene
from tests.integration.worker.stable import Stable

STALE_MS = 2_000


@pytest.fixture
def stable(scene: Scene) -> Stable:
    return Stable(scene)


def error_of(stable, task_id):
    return stable.value("SELECT error_code FROM horsies_task_history WHERE id = %s", task_id)


def test_a_child_that_was_stopped_is_killed_and_its_task_has_crashed(stable):
    worker = stable.start("--processes", "2", STALE_MS=STALE_MS)
    task_id, pid = stable.send_block()
    os.kill(pid, signal.SIGSTOP)
    stable.wait_for("FAILED", task_id)
    assert error_of(stable, task_id) == "WORKER_CRASHED"
    until(lambda: not is_alive(pid), "it is killed")
    assert "without a sign of life" in worker.words


def test_a_child_that_hangs_with_the_gil_is_killed_and_its_task_has_crashed(stable):
    stable.start("--processes", "1", STALE_MS=STALE_MS)
    task_id, pid = stable.send_block("hang")
    stable.wait_for("FAILED", task_id)
    assert error_of(stable, task_id) == "WORKER_CRASHED"
    until(lambda: not is_alive(pid), "it is killed")


def test_the_siblings_of_a_silent_child_never_notice(stable):
    stable.start("--processes", "2", STALE_MS=STALE_MS)
    well, well_pid = stable.send_block()
    silent, pid = stable.send_block()
    os.kill(pid, signal.SIGSTOP)
    stable.wait_for("FAILED", silent)
    stable.unblock()
    stable.wait_for("COMPLETED", well)
    assert is_alive(well_pid)


def test_the_place_of_a_silent_child_is_taken_by_another(stable):
    stable.start("--processes", "1", STALE_MS=STALE_MS)
    _, pid = stable.send_block()
    os.kill(pid, signal.SIGSTOP)
    stable.wait_for("COMPLETED", stable.send("add", x=1, y=2))


def test_nobody_speaks_for_a_silent_child(stable):
    """Both are spoken for with the same beats, until one of them falls silent."""
    stable.start("--processes", "2", LEASE_MS=1_000)
    silent, pid = stable.send_block()
    well, _ = stable.send_block()
    spoken = "SELECT count(*) FROM horsies_heartbeats WHERE task_id = %s AND role = 'runner'"
    until(lambda: stable.value(spoken, silent), "it is spoken for")
    os.kill(pid, signal.SIGSTOP)
    since = (
        f"{spoken} AND sent_at > (SELECT max(sent_at) FROM horsies_heartbeats WHERE task_id = %s)"
    )
    until(lambda: stable.value(since, well, silent) > 2, "only the other one is spoken for")
    assert stable.status(silent) == "RUNNING"


def test_a_task_shorter_than_an_interval_leaves_no_heartbeat(stable):
    stable.start("--processes", "1", LEASE_MS=1_000)
    stable.wait_for("COMPLETED", stable.send("add", x=1, y=2))
    assert stable.value("SELECT count(*) FROM horsies_heartbeats") == 0
