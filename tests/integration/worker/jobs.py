"""An app for real workers. Runs leave a line in the witness file when they begin and end."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

app = Horsies(
    AppConfig(
        claim_lease_ms=1_000,
        recovery=RecoveryConfig(check_interval_ms=1_000),
        resilience=WorkerResilienceConfig(
            db_retry_initial_ms=100, db_retry_max_ms=500, notify_poll_interval_ms=1_000
        ),
    )
)
AGAIN_AFTER_CRASHES = RetryPolicy.fixed([0, 0, 0, 0], auto_retry_for=["WORKER_CRASHED"])


@contextmanager
def witnessed(name: str) -> Iterator[None]:
    _witness(f"begin {name} {os.getpid()}")
    yield
    _witness(f"end {name} {os.getpid()}")


def _witness(line: str) -> None:
    file = os.open(os.environ["WITNESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def _wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


@app.task("add")
def add(x: int, y: int) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("pid")
def pid() -> TaskResult[int, TaskError]:
    return TaskResult(ok=os.getpid())


@app.task("fresh", fresh=True)
def fresh() -> TaskResult[int, TaskError]:
    return TaskResult(ok=os.getpid())


@app.task("async_pid")
async def async_pid(seconds: float = 0.0) -> TaskResult[int, TaskError]:
    await asyncio.sleep(seconds)
    return TaskResult(ok=os.getpid())


@app.task("block")
def block(path: str) -> TaskResult[str, TaskError]:
    """Until the file exists."""
    with witnessed("block"):
        _wait_for(path)
    return TaskResult(ok="unblocked")


@app.task("block_with_retry", retry_policy=AGAIN_AFTER_CRASHES)
def block_with_retry(path: str) -> TaskResult[str, TaskError]:
    with witnessed("block_with_retry"):
        _wait_for(path)
    return TaskResult(ok="unblocked")


@app.task("block_async")
async def block_async(path: str) -> TaskResult[str, TaskError]:
    with witnessed("block_async"):
        while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 - tests' event between processes
            await asyncio.sleep(0.01)
    return TaskResult(ok="unblocked")


@app.task("die")
def die(code: int) -> TaskResult[str, TaskError]:
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


@app.task("die_again", retry_policy=AGAIN_AFTER_CRASHES)
def die_again() -> TaskResult[str, TaskError]:
    with witnessed("die_again"):
        os._exit(7)
    return TaskResult(ok="never")


@app.task("die_async")
async def die_async() -> TaskResult[str, TaskError]:
    os._exit(7)


@app.task("overtime", timeout_ms=200)
def overtime(seconds: float) -> TaskResult[str, TaskError]:
    time.sleep(seconds)
    return TaskResult(ok="in time")


@app.task("overtime_async", timeout_ms=200)
async def overtime_async(seconds: float) -> TaskResult[str, TaskError]:
    await asyncio.sleep(seconds)
    return TaskResult(ok="in time")


@app.task("stubborn", timeout_ms=100)
def stubborn() -> TaskResult[str, TaskError]:
    """Listens to nobody."""
    while True:
        with suppress(TaskInterrupted):
            time.sleep(60)


@app.task("stubborn_async", timeout_ms=100)
async def stubborn_async() -> TaskResult[str, TaskError]:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


@app.task("blocks_the_loop", timeout_ms=100)
async def blocks_the_loop() -> TaskResult[str, TaskError]:
    while True:
        with suppress(TaskInterrupted):
            time.sleep(60)  # noqa: ASYNC251 - that is the point


@app.task("finishes_anyway", timeout_ms=100)
def finishes_anyway() -> TaskResult[str, TaskError]:
    with suppress(TaskInterrupted):
        time.sleep(60)
    return TaskResult(ok="in the end")


@app.task("boom")
def boom() -> TaskResult[str, TaskError]:
    raise ValueError("boom")


@app.task("with_children")
def with_children(pid_file: str) -> TaskResult[str, TaskError]:
    """Starts a process of its own, and dies."""
    child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    Path(pid_file).write_text(str(child))
    os._exit(1)
