"""`--processes 0`: tasks run in the worker itself, async ones on its loop, sync ones in threads."""

import pytest

from horsies import CancelAnswer, gather
from tests.integration.worker import jobs
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


@pytest.fixture(scope="module", autouse=True)
def worker(shared: Scene) -> RunningWorker:
    return shared.start("--processes", "0", "--concurrency", "4")


def test_every_task_runs_in_the_worker(worker: RunningWorker):
    results = gather([jobs.pid.send("here"), jobs.async_pid.send()], PATIENCE_MS)
    assert [result.ok_value for result in results] == [worker.pid] * 2


def test_sync_and_async_tasks_run_beside_one_another(shared: Scene):
    path = shared.file("beside")
    tasks = [(jobs.block, "sync"), (jobs.block_async, "async")]
    handles = [task.send(path, f"{kind}{n}") for task, kind in tasks for n in range(2)]
    for token in ("sync0", "sync1", "async0", "async1"):
        shared.until_begun(token)
    happens(path)
    assert [result.ok_value for result in gather(handles, PATIENCE_MS)] == ["unblocked"] * 4


def test_a_timeout_ends_an_async_task():
    assert jobs.overtime_async.send(60).get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"


def test_a_cancel_ends_an_async_task(shared: Scene):
    handle = jobs.block_async.send(shared.file("never"), "cancelled")
    shared.until_begun("cancelled")
    assert handle.cancel() is CancelAnswer.REQUESTED
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (jobs.boom, "ValueError"),
        (jobs.exit_politely, "SystemExit"),
        (jobs.exit_politely_async, "SystemExit"),
    ],
)
def test_an_exception_of_any_kind_is_typed_and_the_worker_goes_on(task, told: str):
    error = task.send().get(PATIENCE_MS).err_value
    assert error.error_code == "UNHANDLED_EXCEPTION"
    assert told in str(error.exception)
    assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3
