"""How children come and go: recycling, failing starts, and starts that kill."""

import os
import signal
from itertools import pairwise

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.processes import command_of, is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


def test_a_child_is_replaced_after_so_many_tasks(scene: Scene):
    scene.start("--processes", "1", "--max-tasks-per-child", "2")
    pids = [
        result.ok_value
        for result in gather([jobs.pid.send(f"pid{n}") for n in range(6)], PATIENCE_MS)
    ]
    assert all(pids.count(pid) <= 2 for pid in pids)
    assert len(scene.lines("begin")) == 6


def test_a_child_that_uses_too_much_memory_is_replaced(scene: Scene):
    scene.start("--processes", "1", "--max-memory-per-child-mb", "150")
    small = jobs.swell.send(1).get(PATIENCE_MS).ok_value
    large = jobs.swell.send(200).get(PATIENCE_MS).ok_value
    after = jobs.swell.send(1).get(PATIENCE_MS).ok_value
    assert small == large  # it is looked at between tasks, not during one
    assert after != large


def test_a_start_that_fails_is_told_once_with_its_traceback_and_ends_the_worker(scene: Scene):
    worker = scene.start("--processes", "2", serves=False, FAILING_START=1)
    assert worker.ended() == 1
    assert worker.words.count("RuntimeError: no licence for this machine") == 1
    assert worker.words.count("Traceback") == 1
    assert "in start_badly" in worker.words
    assert not scene.rows("SELECT 1 FROM horsies_tasks WHERE worker_id IS NOT NULL")


def test_a_start_that_kills_its_process_ends_the_worker(scene: Scene):
    path = scene.file("deadly")
    happens(path)
    worker = scene.start("--processes", "1", serves=False, DEADLY_START=path)
    assert worker.ended() == 1
    assert "exited with code 9" in worker.words


def test_children_that_keep_dying_come_back_ever_more_slowly_until_they_live(scene: Scene):
    path = scene.file("deadly")
    worker = scene.start("--processes", "1", DEADLY_START=path)
    pid = jobs.pid.send("at_first").get(PATIENCE_MS).ok_value
    happens(path)
    os.kill(pid, signal.SIGKILL)
    until(lambda: len(scene.lines("begin", "start")) >= 5, "five have died at their start")
    births = [line.seconds for line in scene.lines("begin", "start")]
    rests = [later - sooner for sooner, later in pairwise(births)]
    os.unlink(path)  # noqa: PTH108 - a path as text
    assert rests[3] > 2 * rests[0]
    assert jobs.pid.send("afterwards").get(PATIENCE_MS).ok_value != pid
    assert worker.process.poll() is None


def test_the_process_that_starts_children_is_replaced_too(scene: Scene):
    worker = scene.start("--processes", "1")
    path = scene.file("never")
    lost = jobs.block.send(path, "lost")
    child = scene.until_begun("lost")
    (nursery,) = [pid for pid in worker.children if "nursery" in command_of(pid) and pid != child]
    os.kill(nursery, signal.SIGKILL)
    assert lost.get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    until(lambda: not is_alive(child), "the child is gone with it")
    assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3


def test_an_idle_worker_holds_no_transaction_open(scene: Scene):
    worker: RunningWorker = scene.start("--processes", "1")
    jobs.add.send(1, 2).get(PATIENCE_MS)
    open_ones = "SELECT 1 FROM pg_stat_activity WHERE state ~ '^idle in transaction'"
    until(lambda: not scene.rows(open_ones), "nothing is open")
    assert worker.stop() == 0
