"""An app for real workers. Runs leave a line in the witness file when they begin and end."""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path

from horsies import (
    AppConfig,
    Horsies,
    RecoveryConfig,
    RetryPolicy,
    TaskError,
    TaskInterrupted,
    TaskResult,
    WorkerResilienceConfig,
)
from tests.proof.witness import witnessed


def _told(name: str, default: int) -> int:
    """What a test has told the worker that it starts."""
    return int(os.environ.get(name, default))


app = Horsies(
    AppConfig(
        claim_lease_ms=_told("LEASE_MS", 1_000),
        prefetch_buffer=_told("PREFETCH", 0),
        recovery=RecoveryConfig(
            check_interval_ms=1_000,
            claimer_heartbeat_interval_ms=1_000,
            runner_heartbeat_interval_ms=1_000,
        ),
        resilience=WorkerResilienceConfig(
            db_retry_initial_ms=100,
            db_retry_max_ms=500,
            db_retry_max_attempts=_told("TRIES", 0),
            notify_poll_interval_ms=_told("POLL_MS", 1_000),
        ),
    )
)
AGAIN_AFTER_CRASHES = RetryPolicy.fixed([0, 0, 0, 0], auto_retry_for=["WORKER_CRASHED"])
AGAIN_AFTER_TROUBLE = RetryPolicy.fixed([0], auto_retry_for=["TROUBLE", "TASK_TIMEOUT"])


def _wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


async def _wait_for_async(path: str) -> None:
    while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 - tests' event between processes
        await asyncio.sleep(0.01)


@app.on_child_process_start
def start_badly() -> None:
    """As the test wants it: some start-up code of users fails, and some kills its process."""
    if "FAILING_START" in os.environ:
        raise RuntimeError("no licence for this machine")
    if Path(os.environ.get("DEADLY_START", "/nowhere")).exists():
        with witnessed("start"):
            os._exit(9)


@app.task("add")
def add(x: int, y: int) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("pid")
def pid(token: str = "pid") -> TaskResult[int, TaskError]:
    with witnessed(token):
        return TaskResult(ok=os.getpid())


@app.task("async_pid")
async def async_pid() -> TaskResult[int, TaskError]:
    return TaskResult(ok=os.getpid())


@app.task("fresh", fresh=True)
def fresh() -> TaskResult[int, TaskError]:
    return TaskResult(ok=os.getpid())


@app.task("swell")
def swell(megabytes: int) -> TaskResult[int, TaskError]:
    """Memory that stays in use."""
    app.ballast = bytearray(os.urandom(1024) * 1024 * megabytes)  # type: ignore[attr-defined]
    return TaskResult(ok=os.getpid())


@app.task("block")
def block(path: str, token: str = "block") -> TaskResult[str, TaskError]:
    """Until the file exists."""
    with witnessed(token):
        _wait_for(path)
    return TaskResult(ok="unblocked")


@app.task("block_with_retry", retry_policy=AGAIN_AFTER_CRASHES)
def block_with_retry(path: str, token: str = "block_with_retry") -> TaskResult[str, TaskError]:
    with witnessed(token):
        _wait_for(path)
    return TaskResult(ok="unblocked")


@app.task("block_async")
async def block_async(path: str, token: str = "block_async") -> TaskResult[str, TaskError]:
    with witnessed(token):
        await _wait_for_async(path)
    return TaskResult(ok="unblocked")


@app.task("die")
def die(how: int, token: str = "die") -> TaskResult[str, TaskError]:
    """By a code, or, if it is negative, by a signal."""
    with witnessed(token):
        if how < 0:
            os.kill(os.getpid(), -how)
            time.sleep(60)
        os._exit(how)
    return TaskResult(ok="never")


@app.task("die_again", retry_policy=AGAIN_AFTER_CRASHES)
def die_again(token: str = "die_again") -> TaskResult[str, TaskError]:
    with witnessed(token):
        os._exit(7)
    return TaskResult(ok="never")


@app.task("die_async")
async def die_async() -> TaskResult[str, TaskError]:
    os._exit(7)


@app.task("die_once", retry_policy=AGAIN_AFTER_CRASHES)
async def die_once(path: str, token: str = "die_once") -> TaskResult[int, TaskError]:
    """Then it waits."""
    died = Path(f"{path}.died")
    if not died.exists():  # noqa: ASYNC240 - a test's file
        died.touch()  # noqa: ASYNC240 - same
        os._exit(7)
    with witnessed(token):
        await _wait_for_async(path)
    return TaskResult(ok=os.getpid())


@app.task("overtime", timeout_ms=200)
def overtime(seconds: float) -> TaskResult[str, TaskError]:
    time.sleep(seconds)
    return TaskResult(ok="in time")


@app.task("overtime_async", timeout_ms=200)
async def overtime_async(seconds: float) -> TaskResult[str, TaskError]:
    await asyncio.sleep(seconds)
    return TaskResult(ok="in time")


@app.task("overtime_at_first", timeout_ms=200, retry_policy=AGAIN_AFTER_TROUBLE)
def overtime_at_first(path: str) -> TaskResult[str, TaskError]:
    if not Path(path).exists():
        Path(path).touch()
        time.sleep(60)
    return TaskResult(ok="the second time")


def _listen_to_nobody() -> None:
    while True:
        with suppress(TaskInterrupted):
            time.sleep(60)


@app.task("stubborn", timeout_ms=100)
def stubborn(token: str = "stubborn") -> TaskResult[str, TaskError]:
    with witnessed(token):
        _listen_to_nobody()
    return TaskResult(ok="never")


@app.task("stubborn_async", timeout_ms=100)
async def stubborn_async(token: str = "stubborn_async") -> TaskResult[str, TaskError]:
    with witnessed(token):
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)


@app.task("blocks_the_loop", timeout_ms=100)
async def blocks_the_loop() -> TaskResult[str, TaskError]:
    _listen_to_nobody()
    return TaskResult(ok="never")


@app.task("stubborn_for_ever")
def stubborn_for_ever(token: str = "stubborn_for_ever") -> TaskResult[str, TaskError]:
    """It has no timeout: only a cancel ends it."""
    with witnessed(token):
        _listen_to_nobody()
    return TaskResult(ok="never")


@app.task("finishes_anyway", timeout_ms=100)
def finishes_anyway() -> TaskResult[str, TaskError]:
    with suppress(TaskInterrupted):
        time.sleep(60)
    return TaskResult(ok="in the end")


@app.task("swallows_exceptions", timeout_ms=100)
def swallows_exceptions() -> TaskResult[str, TaskError]:
    try:
        time.sleep(60)
    except Exception:  # noqa: BLE001 - that is the point
        return TaskResult(ok="swallowed")
    return TaskResult(ok="never")


@app.task("ends_in_trouble", retry_policy=AGAIN_AFTER_TROUBLE)
def ends_in_trouble(token: str = "ends_in_trouble") -> TaskResult[str, TaskError]:
    """As soon as it is asked to stop."""
    with witnessed(token), suppress(TaskInterrupted):
        time.sleep(60)
    return TaskResult(err=TaskError("TROUBLE"))


@app.task("trouble", retry_policy=AGAIN_AFTER_TROUBLE)
def trouble(token: str = "trouble") -> TaskResult[str, TaskError]:
    with witnessed(token):
        return TaskResult(err=TaskError("TROUBLE"))


@app.task("trouble_later", retry_policy=RetryPolicy.fixed([1], auto_retry_for=["TROUBLE"]))
def trouble_later(token: str = "trouble_later") -> TaskResult[str, TaskError]:
    """It is retried after a second."""
    with witnessed(token):
        return TaskResult(err=TaskError("TROUBLE"))


@app.task("boom")
def boom(token: str = "boom") -> TaskResult[str, TaskError]:
    with witnessed(token):
        raise ValueError("boom")


@app.task("exit_politely")
def exit_politely() -> TaskResult[str, TaskError]:
    raise SystemExit(3)


@app.task("exit_politely_async")
async def exit_politely_async() -> TaskResult[str, TaskError]:
    raise SystemExit(3)


@app.task("with_children")
def with_children(pid_file: str, path: str) -> TaskResult[str, TaskError]:
    """Starts a process of its own, and dies when the file exists."""
    child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    half = Path(f"{pid_file}.half")
    half.write_text(str(child))
    half.rename(pid_file)
    _wait_for(path)
    os._exit(1)
