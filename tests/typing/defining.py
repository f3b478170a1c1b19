"""What a type checker makes of definitions. Checked by basedpyright, never run."""

from typing import assert_type

from horsies import AsyncTask, Horsies, RetryPolicy, SyncTask, TaskError, TaskResult

app = Horsies()


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("fetch", retry_policy=RetryPolicy.fixed([1, 5]), idempotent=True)
async def fetch(url: str, *, tries: int = 3) -> TaskResult[bytes, TaskError]:
    return TaskResult(ok=url.encode() * tries)


@app.task("nothing")
def nothing() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@app.task("clean_up")
def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
    return TaskResult(err=error) if task_id else TaskResult(ok=None)


@app.task("watched", on_failure=clean_up)
def watched() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@app.task("watched_by_name", on_failure="clean_up", exception_mapper={ValueError: "BAD"})
def watched_by_name() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


def kinds_and_parameters_are_kept() -> None:
    as_sync: SyncTask[[str, TaskError], None] = clean_up
    as_sync_without: SyncTask[[], None] = nothing
    assert_type(as_sync.name, str)
    assert_type(as_sync_without.name, str)


def a_call_in_process_gives_the_result() -> None:
    assert_type(add(1, y=2), TaskResult[int, TaskError])
    assert_type(nothing(), TaskResult[None, TaskError])


async def an_async_call_in_process_is_awaited() -> None:
    assert_type(await fetch("x", tries=2), TaskResult[bytes, TaskError])


def what_does_not_fit_is_an_error() -> None:
    add("one")  # pyright: ignore[reportArgumentType]
    add()  # pyright: ignore[reportCallIssue]
    add(1, z=2)  # pyright: ignore[reportCallIssue]
    nothing(1)  # pyright: ignore[reportCallIssue]
    not_async: SyncTask[[], bytes] = fetch  # pyright: ignore[reportAssignmentType]
    not_sync: AsyncTask[[], None] = nothing  # pyright: ignore[reportAssignmentType]
    assert_type((not_async, not_sync), tuple[SyncTask[[], bytes], AsyncTask[[], None]])


@app.task("no_result")  # pyright: ignore[reportCallIssue, reportArgumentType, reportUntypedFunctionDecorator]
def no_result() -> int:
    return 1


@app.task("other_error")  # pyright: ignore[reportCallIssue, reportArgumentType, reportUntypedFunctionDecorator]
def other_error() -> TaskResult[int, str]:
    return TaskResult(err="oops")


@app.task("wrong", timeout_ms="1")  # pyright: ignore[reportArgumentType]
def wrong_option() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@app.task("wrong_handler", on_failure=5)  # pyright: ignore[reportArgumentType]
def wrong_handler() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@app.task("unfit_handler", on_failure=add)  # pyright: ignore[reportArgumentType]
def unfit_handler() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@app.task()  # pyright: ignore[reportCallIssue, reportUntypedFunctionDecorator]
def nameless() -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)
