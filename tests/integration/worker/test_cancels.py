"""A task that has not begun is cancelled at once; one that runs is asked, then killed."""

import pytest

from horsies import CancelAnswer
from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


@pytest.fixture(scope="module", autouse=True)
def worker(shared: Scene) -> RunningWorker:
    return shared.start("--processes", "1", "--kill-grace-ms", "300", PREFETCH=1)


def test_a_pending_task_is_cancelled_at_once(shared: Scene):
    handle = jobs.pid.with_options(delay=60).send("cancelled_before")
    assert handle.cancel() is CancelAnswer.CANCELLED
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"


def test_a_claimed_task_is_cancelled_at_once_and_never_begins(shared: Scene):
    path = shared.file("claimed")
    running = jobs.block.send(path, "in_front")
    shared.until_begun("in_front")
    claimed = jobs.pid.send("claimed")
    until(lambda: claimed.info().status == "CLAIMED", "it is claimed")
    assert claimed.cancel() is CancelAnswer.CANCELLED
    happens(path)
    assert running.get(PATIENCE_MS).is_ok()
    jobs.add.send(1, 2).get(PATIENCE_MS)
    assert claimed.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
    assert not shared.lines(task="claimed")


@pytest.mark.parametrize(
    ("task", "token"), [(jobs.block, "asked"), (jobs.block_async, "asked_async")]
)
def test_a_running_task_is_asked_to_end(shared: Scene, task, token: str):
    handle = task.send(shared.file("never"), token)
    shared.until_begun(token)
    assert handle.cancel() is CancelAnswer.REQUESTED
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
    assert not shared.lines("end", token)


def test_a_running_task_that_does_not_listen_is_killed(shared: Scene):
    handle = jobs.stubborn_for_ever.send()
    pid = shared.until_begun("stubborn_for_ever")
    assert handle.cancel() is CancelAnswer.REQUESTED
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
    until(lambda: not is_alive(pid), "its process is gone")


def test_what_a_cancelled_task_returned_in_time_stands_and_is_not_retried(shared: Scene):
    handle = jobs.ends_in_trouble.send()
    shared.until_begun("ends_in_trouble")
    assert handle.cancel() is CancelAnswer.REQUESTED
    assert handle.get(PATIENCE_MS).err_value.error_code == "TROUBLE"
    assert len(shared.lines("begin", "ends_in_trouble")) == 1


def test_an_ended_task_cannot_be_cancelled():
    handle = jobs.add.send(1, 2)
    handle.get(PATIENCE_MS)
    assert handle.cancel() is CancelAnswer.ALREADY_TERMINAL


def test_a_cancel_reaches_the_owner_without_notifications(shared: Scene, worker: RunningWorker):
    """Every heartbeat brings what was asked for meanwhile."""
    handle = jobs.block.send(shared.file("never"), "unannounced")
    shared.until_begun("unannounced")
    shared.rows(
        "UPDATE horsies_tasks SET cancel_requested_at = now() WHERE id = %s", handle.task_id
    )
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
