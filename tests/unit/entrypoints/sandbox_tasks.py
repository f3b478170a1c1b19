"""Tasks that note when they ran, for the laws of the sandbox."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from horsies import (
    Horsies,
    RetryPolicy,
    TaskError,
    TaskResult,
)
from horsies.testing import Sandbox

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

app = Horsies()
runs: list[tuple[int, datetime]] = []
here: list[Sandbox] = []


@app.task("note")
def note(n: int) -> TaskResult[int, TaskError]:
    runs.append((n, here[0].now))
    return TaskResult(ok=n)


@app.task("note_async")
async def note_async(n: int) -> TaskResult[int, TaskError]:
    await asyncio.sleep(0)
    runs.append((n, here[0].now))
    return TaskResult(ok=n)


@app.task("count_down")
def count_down(n: int) -> TaskResult[int, TaskError]:
    runs.append((n, here[0].now))
    if n:
        count_down.send(n - 1)
    return TaskResult(ok=n)


@app.task("greet")
def greet(name: str = "you") -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"hello {name}")


@app.task("for_ever")
def for_ever() -> TaskResult[None, TaskError]:
    for_ever.send()
    return TaskResult(ok=None)


@app.task("every_minute")
def every_minute() -> TaskResult[None, TaskError]:
    runs.append((0, here[0].now))
    every_minute.schedule(60)
    return TaskResult(ok=None)


@app.task("flaky", retry_policy=RetryPolicy.fixed([60, 600, 3600]))
async def flaky(failures: int) -> TaskResult[int, TaskError]:
    runs.append((len(runs), here[0].now))
    if len(runs) <= failures:
        raise ConnectionError("no answer")
    return TaskResult(ok=len(runs))


def minutes() -> list[float]:
    return [(at - START).total_seconds() / 60 for _, at in runs]


def noted() -> list[int]:
    return [n for n, _ in runs]


@contextmanager
def fresh_sandbox() -> Iterator[Sandbox]:
    runs.clear()
    here.clear()
    with app.testing(START) as sandbox:
        here.append(sandbox)
        yield sandbox
