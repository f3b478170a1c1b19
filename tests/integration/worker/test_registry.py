"""What the cluster knows of its workers, and how operators hold them back."""

import json
import os
import platform
import signal

import pytest

from horsies import __version__
from horsies.adapters.postgres.migrate import newest
from tests.integration.worker.processes import until
from tests.integration.worker.scene import Scene
from tests.integration.worker.stable import Stable, horsies


@pytest.fixture
def stable(scene: Scene) -> Stable:
    return Stable(scene)


def listed(*options):
    result = horsies("workers", "list", "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_worker_says_what_it_is(stable):
    worker = stable.start("--processes", "2", "--queues", "open,shut")
    (row,) = listed()
    assert (row["name"], row["pid"], row["places"]) == ("mule", worker.pid, 2)
    assert (row["queues"], row["caps"]) == (["open", "shut"], {"shut": 0})
    assert row["versions"] == {
        "horsies": __version__,
        "python": platform.python_version(),
        "schema": newest(),
    }
    assert row["memory_bytes"] > 0
    assert row["listens"]


def test_a_worker_says_what_it_does(stable):
    stable.start("--processes", "1")
    stable.wait_for_state("idle")
    task_id, _ = stable.send_block()
    assert horsies("workers", "ping").exit_code == 0
    (row,) = listed()
    assert (row["state"], row["running"], row["claimed"]) == ("busy", 1, 0)
    assert row["current_tasks"] == [str(task_id)]


def test_a_worker_that_was_killed_is_lost_and_one_that_ended_has_left(stable):
    stable.start(name="ended", LEASE_MS=1_000).stop()
    stable.start(name="killed", LEASE_MS=1_000).kill()
    until(lambda: [row["state"] for row in listed()] == ["lost"], "its lease lapses")
    assert {row["name"]: row["state"] for row in listed("--all")} == {
        "ended": "left",
        "killed": "lost",
    }


@pytest.mark.parametrize("how", [("workers", "suspend", "mule"), ("suspend",)])
def test_a_suspended_worker_claims_nothing_and_goes_on_with_what_runs(stable, how):
    stable.start("--processes", "2")
    running, _ = stable.send_block()
    assert horsies(*how).exit_code == 0
    stable.wait_for_state("suspended")
    waiting = stable.send("add", x=1, y=2)
    stable.unblock()
    stable.wait_for("COMPLETED", running)
    assert horsies("workers", "ping").exit_code == 0
    assert stable.status(waiting) == "PENDING"
    assert horsies("resume").exit_code == 0
    stable.wait_for("COMPLETED", waiting)


def test_what_a_suspended_worker_had_prefetched_goes_back(stable):
    stable.start("--processes", "1", PREFETCH=5)
    running, _ = stable.send_block()
    ahead = stable.send("add", x=1, y=2)
    stable.wait_for("CLAIMED", ahead)
    horsies("workers", "suspend", "mule")
    stable.wait_for("PENDING", ahead)
    assert stable.status(running) == "RUNNING"


def test_only_the_named_worker_is_suspended(stable):
    horsies("workers", "suspend", "donkey")
    stable.start(name="donkey")
    stable.start(name="mule")
    stable.wait_for("COMPLETED", stable.send("add", x=1, y=2))
    assert (
        stable.value(
            "SELECT worker.name FROM horsies_task_history"
            " JOIN horsies_workers AS worker ON worker.id = worker_id"
        )
        == "mule"
    )


def test_a_worker_that_starts_again_is_still_suspended(stable):
    worker = stable.start()
    horsies("workers", "suspend", "mule")
    stable.wait_for_state("suspended")
    assert worker.stop() == 0
    task_id = stable.send("add", x=1, y=2)
    stable.start()
    stable.wait_for_state("suspended")
    assert stable.status(task_id) == "PENDING"
    result = horsies("workers", "resume", "mule")
    assert "1 worker of that name here" in result.stdout
    stable.wait_for("COMPLETED", task_id)


def test_a_worker_without_notifications_finds_out_with_its_beat(stable):
    stable.start(POLL_ONLY=1, LEASE_MS=1_000)
    horsies("workers", "suspend", "mule")
    stable.wait_for_state("suspended")
    task_id = stable.send("add", x=1, y=2)
    horsies("workers", "resume", "mule")
    stable.wait_for("COMPLETED", task_id)


def test_one_cannot_be_resumed_while_all_are_suspended(stable):
    horsies("suspend")
    result = horsies("workers", "resume", "mule")
    assert result.exit_code == 1
    assert "mule is still suspended, as all are" in result.stderr


def test_workers_answer_a_ping_at_once(stable):
    stable.start(name="mule")
    stable.start(name="donkey")
    result = horsies("workers", "ping", "--json")
    assert result.exit_code == 0
    answers = {row["name"]: row["answered_after_ms"] for row in json.loads(result.stdout)}
    assert set(answers) == {"mule", "donkey"}
    assert None not in answers.values()


def test_a_worker_that_stands_still_does_not_answer(stable):
    worker = stable.start()
    os.kill(worker.pid, signal.SIGSTOP)
    result = horsies("workers", "ping", "mule")
    assert result.exit_code == 1
    assert "no answer" in result.stdout


def test_a_worker_without_notifications_answers_with_its_beat(stable):
    stable.start(POLL_ONLY=1, LEASE_MS=1_000)
    result = horsies("workers", "ping")
    assert result.exit_code == 0
    assert "mule: without notifications; waiting for the next beat" in result.stderr


def test_a_ping_that_nobody_could_answer_fails(scene):
    result = horsies("workers", "ping")
    assert (result.exit_code, result.stderr) == (1, "no worker is here\n")


def test_a_paused_queue_is_left_alone_until_it_is_resumed(stable):
    stable.start("--processes", "1", PREFETCH=5)
    running, _ = stable.send_block()
    ahead = stable.send("add", x=1, y=2)
    stable.wait_for("CLAIMED", ahead)
    result = horsies("queues", "pause", "open")
    assert result.stdout == "paused open; 1 claimed tasks went back\n"
    stable.unblock()
    stable.wait_for("COMPLETED", running)
    stable.wait_for_state("idle")
    assert stable.status(ahead) == "PENDING"
    assert horsies("queues", "resume", "open").exit_code == 0
    stable.wait_for("COMPLETED", ahead)


def test_resuming_a_queue_does_not_lift_what_is_configured(stable):
    stable.start()
    horsies("queues", "pause", "shut")
    result = horsies("queues", "resume", "shut")
    assert result.exit_code == 1
    assert result.stdout == "resumed shut\n"
    assert "shut still stands: 1 of 1 workers have max_concurrency=0 for it" in result.stderr


def test_queues_are_listed_with_what_is_in_them(stable):
    stable.start()
    stable.wait_for_state("idle")
    horsies("queues", "pause", "open")
    stable.send("add", x=1, y=2)
    result = horsies("queues", "list", "--json")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert {name: row["state"] for name, row in rows.items()} == {
        "open": "paused",
        "shut": "stopped",
    }
    assert (rows["open"]["waiting"], rows["open"]["workers"]) == (1, ["mule"])


@pytest.mark.parametrize("what", ["workers", "queues"])
def test_tables_hold_a_line_for_each(stable, what):
    stable.start()
    result = horsies(what, "list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == {"workers": 2, "queues": 3}[what]
    assert all(line == line.rstrip() or line for line in lines)
