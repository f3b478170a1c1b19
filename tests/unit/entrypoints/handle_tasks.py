"""The tasks whose handles are looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from horsies import Horsies, RetryPolicy, TaskError, TaskResult
from horsies.testing import Sandbox

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

app = Horsies()
runs: list[int] = []


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    runs.append(x)
    return TaskResult(ok=x + y)


@app.task("fail")
def fail() -> TaskResult[int, TaskError]:
    return TaskResult(err=TaskError("BOOM", "it went wrong"))


@app.task("flaky", retry_policy=RetryPolicy.fixed([60], auto_retry_for=[ConnectionError]))
async def flaky() -> TaskResult[int, TaskError]:
    raise ConnectionError("no answer")


@contextmanager
def fresh_sandbox() -> Iterator[Sandbox]:
    runs.clear()
    with app.testing(START) as sandbox:
        yield sandbox
