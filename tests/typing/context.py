"""What a type checker makes of the running task and its surroundings. Never run."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

from horsies import (
    CurrentTask,
    Horsies,
    TaskError,
    TaskId,
    TaskResult,
    current_app,
    current_task,
)

app = Horsies()


@app.middleware
def timed(task: CurrentTask) -> Iterator[None]:
    assert_type(task.id, TaskId)
    yield


@app.middleware
async def traced(task: CurrentTask) -> AsyncIterator[None]:
    assert_type(task.attempt, int)
    yield


@app.middleware  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def no_generator(task: CurrentTask) -> None:
    del task


@app.middleware  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def takes_another(task: int) -> Iterator[None]:
    del task
    yield


@app.lifespan
async def clients() -> AsyncIterator[dict[str, str]]:
    yield {}


@app.lifespan  # pyright: ignore[reportArgumentType, reportUntypedFunctionDecorator]
def no_async_generator() -> Iterator[None]:
    yield


@app.task("pay")
def pay(connection: Any) -> TaskResult[int, TaskError]:
    task = current_task()
    assert_type(task, CurrentTask)
    assert_type(current_app(), Horsies)
    task.progress(0.5, "half")
    task.progress("half")  # pyright: ignore[reportArgumentType]
    task.log.info("paid")
    assert_type(task.complete_in(connection, TaskResult(ok=1)), TaskResult[int, TaskError])
    return task.complete_in(connection, TaskResult(ok="1"))  # pyright: ignore[reportReturnType]


@app.task("pay_async")
async def pay_async(connection: Any) -> TaskResult[int, TaskError]:
    return await current_task().complete_in_async(connection, TaskResult(ok=1))
