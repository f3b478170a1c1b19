"""RELIABILITY 11: a timeout is told to the task first, and harms nobody else."""

import pytest

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens


@pytest.fixture(scope="module", autouse=True)
def worker(shared: Scene) -> RunningWorker:
    return shared.start("--processes", "2", "--concurrency", "4", "--kill-grace-ms", "300")


@pytest.mark.parametrize("task", [jobs.overtime, jobs.overtime_async])
def test_a_run_that_takes_too_long_has_timed_out(task):
    assert task.send(60).get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"


@pytest.mark.parametrize("task", [jobs.overtime, jobs.overtime_async])
def test_a_run_within_its_time_is_left_alone(task):
    assert task.send(0).get(PATIENCE_MS).ok_value == "in time"


def test_a_task_that_does_not_listen_is_killed_and_its_code_stays_timeout(shared: Scene):
    handle = jobs.stubborn.send()
    pid = shared.until_begun("stubborn")
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"
    until(lambda: not is_alive(pid), "its process is gone")


def test_an_async_task_that_does_not_listen_is_settled_and_its_child_is_drained(shared: Scene):
    path = shared.file("drain")
    mate = jobs.block_async.send(path, "drained")
    shared.until_begun("drained")
    others = [jobs.stubborn_async.send(f"stubborn{n}") for n in range(2)]
    pids = [shared.until_begun(f"stubborn{n}") for n in range(2)]
    assert {result.err_value.error_code for result in gather(others, PATIENCE_MS)} == {
        "TASK_TIMEOUT"
    }
    happens(path)
    assert mate.get(PATIENCE_MS).ok_value == "unblocked"
    until(lambda: not any(map(is_alive, pids)), "their children have been replaced")
    assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3


def test_a_blocked_loop_is_killed(shared: Scene):
    assert jobs.blocks_the_loop.send().get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"
    assert jobs.async_pid.send().get(PATIENCE_MS).is_ok()


def test_a_normal_return_within_the_grace_stands():
    assert jobs.finishes_anyway.send().get(PATIENCE_MS).ok_value == "in the end"


def test_except_exception_does_not_swallow_a_timeout():
    assert jobs.swallows_exceptions.send().get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"


def test_the_timeout_of_one_task_is_not_noticed_by_others(shared: Scene):
    path = shared.file("siblings")
    siblings = [jobs.block.send(path, "beside"), jobs.block_async.send(path, "async_beside")]
    before = [shared.until_begun("beside"), shared.until_begun("async_beside")]
    assert jobs.overtime_async.send(60).get(PATIENCE_MS).err_value.error_code == "TASK_TIMEOUT"
    happens(path)
    assert [result.ok_value for result in gather(siblings, PATIENCE_MS)] == [
        "unblocked",
        "unblocked",
    ]
    after = [shared.lines("end", task)[0].pid for task in ("beside", "async_beside")]
    assert before == after


def test_a_timeout_is_retried_where_the_policy_says_so(shared: Scene):
    handle = jobs.overtime_at_first.send(shared.file("overtime"))
    assert handle.get(PATIENCE_MS).ok_value == "the second time"
    first, _ = handle.info().attempts
    assert first.error.error_code == "TASK_TIMEOUT"
