"""RELIABILITY 8: a child that dies takes nothing with it but what it had begun."""

import signal
from pathlib import Path

import pytest

from horsies import gather
from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import PATIENCE_MS, RunningWorker, Scene, happens

CONCURRENCY = 3


@pytest.fixture(scope="module")
def worker(shared: Scene) -> RunningWorker:
    return shared.start("--processes", "2", "--concurrency", str(CONCURRENCY))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        (3, "exited with code 3"),
        (-signal.SIGKILL, "was killed by SIGKILL"),
        (-signal.SIGSEGV, "was killed by SIGSEGV"),
    ],
)
def test_a_dead_child_fails_its_own_task_and_the_error_tells_how_it_died(
    worker: RunningWorker, shared: Scene, how: int, told: str
):
    path, token = shared.file(f"sibling{how}"), f"sibling of {how}".replace(" ", "_")
    sibling = jobs.block.send(path, token)
    sibling_pid = shared.until_begun(token)
    error = jobs.die.send(how, f"die{how}").get(PATIENCE_MS).err_value
    happens(path)
    assert error.error_code == "WORKER_CRASHED"
    assert told in error.message
    assert error.data["cpu_seconds"] >= 0
    assert error.data["peak_memory_bytes"] > 1_000_000
    assert sibling.get(PATIENCE_MS).ok_value == "unblocked"
    assert shared.lines("end", token)[0].pid == sibling_pid


def test_async_tasks_of_another_child_do_not_notice(worker: RunningWorker, shared: Scene):
    path = shared.file("async_siblings")
    siblings = [jobs.block_async.send(path, f"async_sibling{n}") for n in range(CONCURRENCY)]
    for n in range(CONCURRENCY):
        shared.until_begun(f"async_sibling{n}")
    assert jobs.die.send(1).get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    happens(path)
    assert [result.ok_value for result in gather(siblings, PATIENCE_MS)] == [
        "unblocked"
    ] * CONCURRENCY


def test_a_dead_child_has_a_successor(worker: RunningWorker, shared: Scene):
    path = shared.file("full")
    jobs.die.send(1).get(PATIENCE_MS)
    blocks = [jobs.block.send(path, f"full{n}") for n in range(2)]
    pids = {shared.until_begun(f"full{n}") for n in range(2)}
    happens(path)
    gather(blocks, PATIENCE_MS)
    assert len(pids) == 2


def test_a_crash_is_not_retried_unless_the_policy_says_so(worker: RunningWorker, shared: Scene):
    handle = jobs.die.send(1, "dies_once")
    handle.get(PATIENCE_MS)
    assert len(shared.lines("begin", "dies_once")) == 1
    assert handle.info().attempt == 1


def test_a_task_that_kills_three_processes_is_quarantined(worker: RunningWorker, shared: Scene):
    handle = jobs.die_again.send()
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_QUARANTINED"
    assert len(shared.lines("begin", "die_again")) == 3
    info = handle.info()
    assert info.crashes == 3
    assert [attempt.error.error_code for attempt in info.attempts] == [
        "WORKER_CRASHED",
        "WORKER_CRASHED",
        "TASK_QUARANTINED",
    ]


def test_a_task_with_a_crash_on_record_runs_alone(worker: RunningWorker, shared: Scene):
    path = shared.file("suspect")
    suspect = jobs.die_once.send(path)
    alone_in = shared.until_begun("die_once")
    others = gather([jobs.async_pid.send() for _ in range(4 * CONCURRENCY)], PATIENCE_MS)
    happens(path)
    assert suspect.get(PATIENCE_MS).ok_value == alone_in
    assert alone_in not in {result.ok_value for result in others}


def test_what_a_child_started_dies_with_it(worker: RunningWorker, shared: Scene):
    pid_file, path = Path(shared.file("grandchild")), shared.file("may_die")
    handle = jobs.with_children.send(str(pid_file), path)
    until(pid_file.exists, "it has started a process")
    grandchild = int(pid_file.read_text())
    assert is_alive(grandchild)
    happens(path)
    assert handle.get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    until(lambda: not is_alive(grandchild), "the grandchild is gone")


def test_each_run_of_a_fresh_task_has_a_process_of_its_own(worker: RunningWorker, shared: Scene):
    mixed = [task.send() for _ in range(4) for task in (jobs.fresh, jobs.pid)]
    pids = [result.ok_value for result in gather(mixed, PATIENCE_MS)]
    fresh, shared_pids = pids[::2], pids[1::2]
    assert len(set(fresh)) == len(fresh)
    assert not set(fresh) & set(shared_pids)


def test_a_child_runs_one_sync_task_at_a_time(worker: RunningWorker, shared: Scene):
    path = shared.file("one_at_a_time")
    handles = [jobs.block.send(path, f"sync{n}") for n in range(6)]
    until(lambda: len(_begun(shared, "sync")) >= 2, "both children are at work")
    happens(path)
    assert all(result.is_ok() for result in gather(handles, PATIENCE_MS))
    assert _most_at_a_time(shared, "sync") == 1


def test_a_child_runs_so_many_async_tasks_at_a_time_as_it_was_told(
    worker: RunningWorker, shared: Scene
):
    path = shared.file("many_at_a_time")
    handles = [jobs.block_async.send(path, f"many{n}") for n in range(4 * CONCURRENCY)]
    until(lambda: len(_begun(shared, "many")) >= 2 * CONCURRENCY, "all places are taken")
    happens(path)
    assert all(result.is_ok() for result in gather(handles, PATIENCE_MS))
    assert _most_at_a_time(shared, "many") == CONCURRENCY


def test_what_ran_on_the_same_loop_has_crashed_too(worker: RunningWorker, shared: Scene):
    path = shared.file("loop_mates")
    mates = [jobs.block_async.send(path, f"mate{n}") for n in range(2 * CONCURRENCY - 1)]
    pids = [shared.until_begun(f"mate{n}") for n in range(2 * CONCURRENCY - 1)]
    assert jobs.die_async.send().get(PATIENCE_MS).err_value.error_code == "WORKER_CRASHED"
    happens(path)
    codes = [
        result.err_value.error_code if result.is_err() else None
        for result in gather(mates, PATIENCE_MS)
    ]
    crashed = [pid for pid, code in zip(pids, codes, strict=True) if code == "WORKER_CRASHED"]
    assert len(crashed) == CONCURRENCY - 1
    assert len(set(crashed)) == 1
    assert codes.count(None) == CONCURRENCY


def _begun(scene: Scene, prefix: str) -> list[str]:
    return [line.task for line in scene.lines("begin") if line.task.startswith(prefix)]


def _most_at_a_time(scene: Scene, prefix: str) -> int:
    """In one process."""
    running: dict[int, int] = {}
    most = 0
    for line in scene.lines():
        if line.task.startswith(prefix):
            running[line.pid] = running.get(line.pid, 0) + (1 if line.word == "begin" else -1)
            most = max(most, running[line.pid])
    return most
