"""An app whose tasks look at the run they are in, for real workers."""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from horsies import (
    AppConfig,
    CurrentTask,
    Horsies,
    RetryPolicy,
    TaskError,
    TaskResult,
    WorkerResilienceConfig,
    current_app,
    current_task,
)

app = Horsies(
    AppConfig(resilience=WorkerResilienceConfig(db_retry_initial_ms=100, db_retry_max_ms=500))
)
SECRET = "hunter2"
EVERY_CRASH = RetryPolicy.fixed([0, 0], auto_retry_for=["WORKER_CRASHED", Exception])


def _witness(line: str) -> None:
    file = os.open(os.environ["WITNESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def _wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


@dataclass
class State:
    loop: asyncio.AbstractEventLoop
    uses: list[str] = field(default_factory=list)


@app.lifespan
async def lifespan() -> AsyncIterator[State]:
    if os.environ.get("BROKEN_LIFESPAN"):
        raise ConnectionError("the cache does not answer")
    _witness(f"enter {os.getpid()}")
    yield State(asyncio.get_running_loop())
    await asyncio.sleep(0)
    _witness(f"leave {os.getpid()}")


@app.middleware
def outer(task: CurrentTask) -> Iterator[None]:
    if task.name == "wrapped":
        _witness(f"outer in {task.attempt}")
    yield
    if task.name == "wrapped":
        _witness("outer out")


@app.middleware
async def inner(task: CurrentTask) -> AsyncIterator[None]:
    if task.name == "wrapped":
        await asyncio.sleep(0)
        _witness("inner in")
    yield
    if task.name == "wrapped":
        _witness("inner out")


@app.task("wrapped")
async def wrapped() -> TaskResult[None, TaskError]:
    _witness("task")
    return TaskResult(ok=None)


@app.task("identify")
def identify() -> TaskResult[list[str], TaskError]:
    task = current_task()
    assert current_app() is app
    return TaskResult(ok=[str(task.id), task.name, task.queue, str(task.attempt)])


@app.task("identify_async")
async def identify_async() -> TaskResult[list[str], TaskError]:
    """In a thread that inherits the context, while others of its kind run beside it."""
    mine = current_task().id
    await asyncio.sleep(0.05)
    task = await asyncio.to_thread(current_task)
    assert task.id == mine
    return TaskResult(ok=[str(task.id), task.name, task.queue, str(task.attempt)])


@app.task("use_state")
def use_state() -> TaskResult[int, TaskError]:
    state: State = current_task().state
    state.uses.append("sync")
    return TaskResult(ok=len(state.uses))


@app.task("use_state_async")
async def use_state_async() -> TaskResult[int, TaskError]:
    state: State = current_task().state
    assert state.loop is asyncio.get_running_loop()
    state.uses.append("async")
    return TaskResult(ok=len(state.uses))


@app.task("talk")
def talk(secret: str) -> TaskResult[int, TaskError]:
    current_task().log.info("at work")
    logging.getLogger("elsewhere").warning("somebody else's words")
    return TaskResult(ok=len(secret))


@app.task("work_slowly")
def work_slowly(path: str) -> TaskResult[bool, TaskError]:
    for page in range(1, 91):
        current_task().progress(page / 100, f"page {page}\0")
    _wait_for(path)
    return TaskResult(ok=True)


@app.task("work_slowly_async")
async def work_slowly_async(path: str) -> TaskResult[bool, TaskError]:
    for page in range(1, 91):
        current_task().progress(page / 100, f"page {page}\0")
    while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 - tests' event between processes
        await asyncio.sleep(0.01)
    return TaskResult(ok=True)


@app.task("notice_cancel")
async def notice_cancel() -> TaskResult[bool, TaskError]:
    def watch(task: CurrentTask) -> bool:
        while not task.is_cancelled:
            time.sleep(0.01)
        _witness("noticed")
        return True

    return TaskResult(ok=await asyncio.to_thread(watch, current_task()))


def _connect() -> psycopg.Connection:
    return psycopg.connect(os.environ["HORSIES_DATABASE_URL"])


def _order(connection: psycopg.Connection, name: str) -> None:
    connection.execute("INSERT INTO orders VALUES (%s)", [name])


@app.task("complete")
def complete(then: str = "return", path: str = "") -> TaskResult[str, TaskError]:
    with _connect() as connection:
        _order(connection, "one")
        result = current_task().complete_in(connection, TaskResult(ok="stored"))
        if then == "raise inside":
            raise ValueError("undo it all")
        if then == "roll back":
            connection.rollback()
    _witness("committed")
    if then == "raise":
        raise ValueError("too late")
    if then == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if then == "go on":
        _wait_for(path)
    return result if then == "return" else TaskResult(ok="returned")


@app.task("complete_and_die", retry_policy=EVERY_CRASH)
def complete_and_die() -> TaskResult[str, TaskError]:
    return complete.__wrapped__("die")


@app.task("complete_async")
async def complete_async() -> TaskResult[str, TaskError]:
    async with await psycopg.AsyncConnection.connect(
        os.environ["HORSIES_DATABASE_URL"]
    ) as connection:
        await connection.execute("INSERT INTO orders VALUES ('one')")
        return await current_task().complete_in_async(connection, TaskResult(ok="stored"))


@app.task("forget_to_commit")
def forget_to_commit() -> TaskResult[str, TaskError]:
    connection = _connect()
    _order(connection, "one")
    return current_task().complete_in(connection, TaskResult(ok="stored"))


@app.task("keep_open")
def keep_open(how: str, path: str) -> TaskResult[str, TaskError]:
    """Somebody else ends the transaction, after the task has returned."""
    connection = _connect()
    _order(connection, "one")

    def end() -> None:
        _wait_for(path)
        getattr(connection, how)()

    threading.Thread(target=end, daemon=True).start()
    return current_task().complete_in(connection, TaskResult(ok="stored"))


@app.task("lose")
def lose() -> TaskResult[str, TaskError]:
    """Somebody takes the task away in the middle of it."""
    with _connect() as other:
        other.execute(
            "UPDATE horsies_tasks SET epoch = epoch + 1 WHERE id = %s", [current_task().id]
        )
    with _connect() as connection:
        _order(connection, "one")
        return current_task().complete_in(connection, TaskResult(ok="stored"))
