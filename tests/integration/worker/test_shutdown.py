"""RELIABILITY 10: a worker that is told to stop ends what it runs, and gives back the rest."""

import signal

import pytest

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


def _ask_to_stop(worker: RunningWorker, number: int = signal.SIGTERM) -> None:
    worker.signal(number)
    until(lambda: "stopping" in worker.words, "it has understood")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_ends_within_the_grace_is_stored_and_nothing_more_is_claimed(scene: Scene, number):
    path = scene.file("ends")
    worker = scene.start("--processes", "2", "--shutdown-grace-ms", "60000")
    running, running_async = jobs.block.send(path), jobs.block_async.send(path)
    scene.until_begun("block")
    scene.until_begun("block_async")
    children = worker.children
    _ask_to_stop(worker, number)
    late = jobs.add.send(1, 2)
    happens(path)
    assert worker.ended() == 0
    assert [running.get(PATIENCE_MS).ok_value, running_async.get(PATIENCE_MS).ok_value] == [
        "unblocked"
    ] * 2
    assert (late.info().status, late.info().attempt) == ("PENDING", 0)
    assert not any(map(is_alive, children))
    assert not scene.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'horsies ear'")


def test_a_worker_without_children_stores_what_ends_within_the_grace_too(scene: Scene):
    path = scene.file("ends")
    worker = scene.start("--processes", "0")
    handles = [jobs.block.send(path), jobs.block_async.send(path)]
    scene.until_begun("block")
    scene.until_begun("block_async")
    _ask_to_stop(worker)
    happens(path)
    assert worker.ended() == 0
    assert [result.ok_value for result in gather(handles, PATIENCE_MS)] == ["unblocked"] * 2


def test_what_was_claimed_ahead_goes_back_to_the_queue(scene: Scene):
    path = scene.file("ends")
    worker = scene.start("--processes", "1", PREFETCH=2)
    jobs.block.send(path)
    scene.until_begun("block")
    ahead = [jobs.add.send(n, n) for n in range(2)]
    until(lambda: all(handle.info().status == "CLAIMED" for handle in ahead), "both are claimed")
    _ask_to_stop(worker)
    until(lambda: all(handle.info().status == "PENDING" for handle in ahead), "both are free")
    assert [handle.info().attempt for handle in ahead] == [0, 0]
    happens(path)
    assert worker.ended() == 0


def test_what_outlives_the_grace_is_killed(scene: Scene):
    """Without a policy for crashes it has failed; with one another worker runs it, for free."""
    path = scene.file("later")
    worker = scene.start("--processes", "2", "--shutdown-grace-ms", "100")
    once, again = jobs.block.send(path), jobs.block_with_retry.send(path)
    pids = [scene.until_begun("block"), scene.until_begun("block_with_retry")]
    assert worker.stop() == 0
    assert not any(map(is_alive, pids))
    assert once.get(PATIENCE_MS).err_value.error_code == "WORKER_SHUTDOWN"
    waiting = again.info()
    assert (waiting.status, waiting.retries, waiting.crashes) == ("PENDING", 0, 0)
    happens(path)
    scene.start("--processes", "1")
    assert again.get(PATIENCE_MS).ok_value == "unblocked"
    assert again.info().retries == 0


def test_a_second_signal_does_not_wait(scene: Scene):
    worker = scene.start("--processes", "1")
    handle = jobs.block.send(scene.file("never"))
    pid = scene.until_begun("block")
    _ask_to_stop(worker)
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    assert not is_alive(pid)
    assert handle.get(PATIENCE_MS).err_value.error_code == "WORKER_SHUTDOWN"


def test_a_stopping_worker_still_speaks_for_what_it_runs(scene: Scene):
    """Longer than its lease: others must not take the task away."""
    path = scene.file("ends")
    worker = scene.start("--processes", "1")
    handle = jobs.block.send(path)
    scene.until_begun("block")
    _ask_to_stop(worker)
    scene.start("--processes", "1")
    beats = "SELECT count(*) AS beats FROM horsies_heartbeats WHERE task_id = %s"
    until(lambda: scene.rows(beats, handle.task_id)[0]["beats"] >= 2, "it has spoken")
    happens(path)
    assert handle.get(PATIENCE_MS).ok_value == "unblocked"
    assert worker.ended() == 0
    assert handle.info().attempt == 1
