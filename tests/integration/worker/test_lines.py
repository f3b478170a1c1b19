"""Short tasks stand in line in a child, and nobody is worse off for it."""

import pytest

from horsies import CancelAnswer, gather
from horsies.entrypoints.handle import TaskHandle
from tests.integration.worker import line_jobs
from tests.integration.worker.processes import until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens

CROWD = 300
ODD = CROWD // 2


@pytest.fixture
def worker(scene: Scene) -> RunningWorker:
    """It has measured how short they are."""
    worker = scene.start("--processes", "2", app="line_jobs")
    gather(line_jobs.short.send_many([{"number": n} for n in range(CROWD)]), PATIENCE_MS)
    scene.rows("DELETE FROM horsies_task_history")
    return worker


def send_crowd(**of_the_odd: object) -> tuple[TaskHandle[int], list[TaskHandle[int]]]:
    """One in their middle is odd."""
    calls: list[dict[str, object]] = [{"number": number} for number in range(CROWD)]
    calls[ODD] |= of_the_odd
    handles = line_jobs.short.send_many(calls)
    return handles.pop(ODD), handles


def ends(scene: Scene) -> dict[str, int]:
    """How many ended how, with at most one attempt each."""
    rows = scene.rows("SELECT status, attempt FROM horsies_task_history")
    assert {row["attempt"] for row in rows} <= {0, 1}
    statuses = [row["status"] for row in rows]
    return {status: statuses.count(status) for status in set(statuses)}


def test_short_tasks_are_claimed_many_at_a_time(worker: RunningWorker, scene: Scene):
    gather(send_crowd()[1], PATIENCE_MS)
    ((claims,),) = [
        tuple(row.values())
        for row in scene.rows("SELECT count(DISTINCT claimed_at) FROM horsies_task_history")
    ]
    assert claims < CROWD / 4


def test_nobody_waits_behind_a_task_that_has_become_long(worker: RunningWorker, scene: Scene):
    path = scene.file("release")
    long, others = send_crowd(until=path)
    assert all(result.is_ok() for result in gather(others, PATIENCE_MS))
    assert str(long.info().status) == "RUNNING"
    happens(path)
    assert long.get(PATIENCE_MS).is_ok()
    assert ends(scene) == {"COMPLETED": CROWD}


def test_a_death_costs_those_in_line_nothing(worker: RunningWorker, scene: Scene):
    dead, others = send_crowd(dies=True)
    assert all(result.is_ok() for result in gather(others, PATIENCE_MS))
    assert dead.get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    assert ends(scene) == {"COMPLETED": CROWD - 1, "FAILED": 1}


def test_a_task_that_is_cancelled_in_line_never_begins(scene: Scene):
    scene.start("--processes", "1", app="line_jobs")
    gather(line_jobs.short.send_many([{"number": n} for n in range(CROWD)]), PATIENCE_MS)
    first, second = scene.file("first"), scene.file("second")
    blocked, waiting = line_jobs.short.send_many(
        [{"number": 1, "until": first}, {"number": 2, "until": second}]
    )
    scene.until_begun("blocked1")
    assert waiting.cancel() in {CancelAnswer.CANCELLED, CancelAnswer.REQUESTED}
    assert waiting.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
    happens(first)
    assert blocked.get(PATIENCE_MS).is_ok()
    assert scene.lines("begin", "blocked2") == []


def test_who_stops_gives_the_line_back(worker: RunningWorker, scene: Scene):
    path = scene.file("release")
    long, others = send_crowd(until=path)
    scene.until_begun(f"blocked{ODD}")
    worker.signal(15)
    until(lambda: worker.process.poll() is None and "stopping" in worker.words, "it stops")
    happens(path)
    assert worker.ended() == 0
    scene.start("--processes", "1", app="line_jobs")
    assert all(result.is_ok() for result in gather([long, *others], PATIENCE_MS))
    assert ends(scene) == {"COMPLETED": CROWD}


def test_of_several_cancels_in_line_none_undoes_another(scene: Scene):
    scene.start("--processes", "1", app="line_jobs")
    gather(line_jobs.short.send_many([{"number": n} for n in range(CROWD)]), PATIENCE_MS)
    path = scene.file("release")
    witnesses = [{"number": number, "until": scene.file("now")} for number in range(1, 13)]
    first, *waiting = line_jobs.short.send_many([{"number": 0, "until": path}, *witnesses])
    scene.until_begun("blocked0")
    happens(scene.file("now"))
    for handle in (waiting[11], waiting[1]):  # the later one first
        handle.cancel()
    happens(path)
    assert all(not result.is_err() for result in gather([first, *waiting[2:11]], PATIENCE_MS))
    for number in range(13):
        assert len(scene.lines("begin", f"blocked{number}")) <= 1
