"""What a task knows of itself, and what an app puts around it, in real workers."""

import json

import pytest

from horsies import CancelAnswer, TaskStatus
from tests.integration.context import jobs
from tests.integration.worker.processes import until

PATIENCE_MS = 30_000


def get(handle):
    return handle.get(PATIENCE_MS)


def logged(worker) -> list[dict[str, object]]:
    return [json.loads(line) for line in worker.said if line.startswith("{")]


def lines(witness) -> list[str]:
    return witness.read_text().splitlines()


@pytest.mark.usefixtures("worker")
class TestWhoIAm:
    def test_a_task_knows_itself(self):
        handle = jobs.identify.send()
        assert get(handle).unwrap() == [str(handle.task_id), "identify", "default", "1"]

    def test_async_tasks_are_told_apart(self):
        handles = jobs.identify_async.send_many({} for _ in range(20))
        assert [get(handle).unwrap()[0] for handle in handles] == [
            str(handle.task_id) for handle in handles
        ]

    def test_a_cancel_is_noticed(self, witness):
        handle = jobs.notice_cancel.send()
        until(lambda: handle.info().status is TaskStatus.RUNNING, "it runs")
        assert handle.cancel() is CancelAnswer.REQUESTED
        until(lambda: "noticed" in lines(witness), "the thread has noticed")
        assert get(handle).err_value.error_code == "TASK_CANCELLED"

    def test_middlewares_are_around_a_run_in_their_order(self, witness):
        get(jobs.wrapped.send()).unwrap()
        around = [line for line in lines(witness) if not line.startswith("enter")]
        assert around == ["outer in 1", "inner in", "task", "inner out", "outer out"]


@pytest.mark.parametrize("task", [jobs.work_slowly, jobs.work_slowly_async], ids=lambda t: t.name)
@pytest.mark.usefixtures("worker")
def test_the_latest_progress_is_seen_while_a_task_runs(task, tmp_path):
    ready = tmp_path / "ready"
    handle = task.send(str(ready))
    until(lambda: handle.info().progress == 0.9, "all of its progress is seen")
    info = handle.info()
    assert (info.status, info.progress_note) == (TaskStatus.RUNNING, "page 90?")
    ready.touch()
    assert get(handle).is_ok()
    assert handle.info().progress is None


def test_log_lines_carry_the_task_and_never_its_arguments(worker):
    handle = jobs.talk.send(jobs.SECRET)
    get(handle).unwrap()
    until(lambda: "somebody else's words" in worker.words, "the lines have come")
    run = {"task_id": str(handle.task_id), "task": "talk", "attempt": 1}
    said = [
        line for line in logged(worker) if line["message"] in {"at work", "somebody else's words"}
    ]
    assert [{name: line[name] for name in run} for line in said] == [run, run]
    assert jobs.SECRET not in worker.words


def test_a_lifespan_is_entered_once_and_left_at_the_end(worker, witness):
    assert get(jobs.use_state.send()).unwrap() == 1
    assert get(jobs.use_state_async.send()).unwrap() == 2
    assert get(jobs.use_state.send()).unwrap() == 3
    worker.stop()
    (enter, leave) = lines(witness)
    assert (enter.split()[0], leave.split()[0]) == ("enter", "leave")
    assert enter.split()[1] == leave.split()[1]


def test_each_child_has_a_life_of_its_own(start, witness):
    worker = start("--processes", "2", "--max-tasks-per-child", "1")
    get(jobs.identify.send()).unwrap()
    until(lambda: len(lines(witness)) == 4, "a used child has left and another has come")
    worker.stop()
    entered, left = (
        [line.split()[1] for line in lines(witness) if line.startswith(word)]
        for word in ("enter", "leave")
    )
    assert len(set(entered)) == 3
    assert sorted(entered) == sorted(left)


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_lifespan_that_fails_is_a_readable_failure_to_start(start, monkeypatch, processes):
    monkeypatch.setenv("BROKEN_LIFESPAN", "1")
    worker = start("--processes", processes)
    assert worker.ended() == 1
    said = worker.words
    assert said.count("ConnectionError: the cache does not answer") == 1
    assert "context/jobs.py" in said
