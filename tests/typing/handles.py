"""What a type checker makes of handles. Checked by basedpyright, never run."""

from typing import Any, assert_type
from uuid import UUID

from horsies import (
    CancelAnswer,
    Horsies,
    TaskError,
    TaskHandle,
    TaskId,
    TaskInfo,
    TaskResult,
    as_completed,
    as_completed_async,
    gather,
    gather_async,
)

app = Horsies()


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


def a_handle_knows_its_value(handle: TaskHandle[int]) -> None:
    assert_type(handle.get(), TaskResult[int, TaskError])
    assert_type(handle.get(timeout_ms=5).unwrap(), int)
    assert_type(handle.info(), TaskInfo | None)
    assert_type(handle.cancel(), CancelAnswer)
    assert_type(handle.retry(), TaskHandle[int])
    assert_type(handle.task_id, TaskId)
    handle.get(timeout="5")  # pyright: ignore[reportCallIssue]
    handle.get("5")  # pyright: ignore[reportArgumentType]
    print(handle.info().status)  # noqa: T201 - never run # pyright: ignore[reportOptionalMemberAccess]


async def its_async_verbs_too(handle: TaskHandle[int]) -> None:
    assert_type(await handle.get_async(), TaskResult[int, TaskError])
    assert_type(await handle.info_async(), TaskInfo | None)
    assert_type(await handle.cancel_async(), CancelAnswer)
    assert_type(await handle.retry_async(), TaskHandle[int])


def a_handle_is_rebuilt_with_the_task_s_type(task_id: UUID) -> None:
    assert_type(add.handle(task_id), TaskHandle[int])
    assert_type(add.handle(str(task_id)), TaskHandle[int])
    assert_type(app.handle(task_id), TaskHandle[Any])
    add.handle(5)  # pyright: ignore[reportArgumentType]


def many_handles_keep_their_type(handles: list[TaskHandle[int]]) -> None:
    assert_type(gather(handles), list[TaskResult[int, TaskError]])
    for handle in as_completed(handles, timeout_ms=5):
        assert_type(handle, TaskHandle[int])


async def many_async_handles_too(handles: list[TaskHandle[int]]) -> None:
    assert_type(await gather_async(handles), list[TaskResult[int, TaskError]])
    async for handle in as_completed_async(handles):
        assert_type(handle, TaskHandle[int])


def handles_are_covariant(handle: TaskHandle[bool]) -> TaskHandle[int]:
    return handle


def and_not_the_other_way(handle: TaskHandle[int]) -> TaskHandle[bool]:
    return handle  # pyright: ignore[reportReturnType]


def a_value_has_its_type(handle: TaskHandle[int]) -> str:
    return handle.get().unwrap()  # pyright: ignore[reportReturnType]
