"""RELIABILITY 1 and 9: a worker that dies leaves nothing that runs, and nothing that is lost."""

import os
import signal

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


def _die(worker: RunningWorker) -> list[int]:
    """Gives its children, as they were."""
    children = worker.children
    worker.kill()
    return children


def test_no_child_outlives_its_worker(scene: Scene):
    worker = scene.start("--processes", "3", "--concurrency", "1")
    path = scene.file("never")
    jobs.block.send(path)
    jobs.block_async.send(path)
    jobs.stubborn_for_ever.send()
    for token in ("block", "block_async", "stubborn_for_ever"):
        scene.until_begun(token)
    children = _die(worker)
    assert len(children) == 4  # and the process that starts them
    until(lambda: not any(map(is_alive, children)), "all are gone")


def test_what_a_dead_worker_ran_is_recovered_by_another(scene: Scene):
    """With the policy it runs again, without it it has failed; what never began is not counted."""
    path = scene.file("recovered")
    dying = scene.start("--processes", "2", PREFETCH=4)
    again, once = jobs.block_with_retry.send(path), jobs.block.send(path)
    scene.until_begun("block_with_retry")
    scene.until_begun("block")
    waiting = [jobs.pid.send(f"waiting{n}") for n in range(4)]
    claimed = "SELECT 1 FROM horsies_tasks WHERE status = 'CLAIMED'"
    until(lambda: len(scene.rows(claimed)) == 4, "four are claimed ahead")
    _die(dying)
    happens(path)
    scene.start("--processes", "2")
    assert once.get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    assert again.get(PATIENCE_MS).ok_value == "unblocked"
    assert all(result.is_ok() for result in gather(waiting, PATIENCE_MS))
    assert [len(scene.lines("begin", f"waiting{n}")) for n in range(4)] == [1] * 4
    assert [handle.info().attempt for handle in (again, once, *waiting)] == [2, 1, 1, 1, 1, 1]
    assert len(scene.lines("begin", "block")) == 1


def test_a_worker_that_slept_through_its_lease_cannot_settle(scene: Scene):
    path = scene.file("zombie")
    sleeper = scene.start("--processes", "1")
    handle = jobs.block.send(path)
    child = scene.until_begun("block")
    sleeper.signal(signal.SIGSTOP)
    scene.start("--processes", "1")
    assert handle.get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    happens(path)  # the child of the sleeper ends its task, and its result waits in the pipe
    until(lambda: scene.lines("end", "block"), "it has ended")
    sleeper.signal(signal.SIGCONT)
    until(lambda: "too late" in sleeper.words or not is_alive(child), "the sleeper knows")
    jobs.add.send(1, 2).get(PATIENCE_MS)
    assert jobs.app.handle(handle.task_id).get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"


def test_a_worker_that_finds_its_task_given_away_kills_its_own_run(scene: Scene):
    path = scene.file("never")
    sleeper = scene.start("--processes", "1")
    handle = jobs.block.send(path)
    child = scene.until_begun("block")
    scene.rows("SELECT 1")
    sleeper.signal(signal.SIGSTOP)
    scene.start("--processes", "1")
    handle.get(PATIENCE_MS)
    sleeper.signal(signal.SIGCONT)
    until(lambda: not is_alive(child), "the run that nobody owns has ended")
    os.kill(sleeper.pid, 0)
