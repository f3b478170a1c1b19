"""What a type checker makes of the sandbox. Checked by basedpyright, never run."""

from datetime import UTC, datetime, timedelta
from typing import assert_type

from horsies import Horsies, TaskError, TaskResult
from horsies.testing import Sandbox, SentTask

app = Horsies()


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


def a_sandbox_is_typed() -> None:
    with app.testing(datetime.now(UTC)) as sandbox:
        assert_type(sandbox, Sandbox)
        assert_type(sandbox.now, datetime)
        assert_type(sandbox.drain(max_runs=5), int)
        assert_type(sandbox.advance(timedelta(hours=1), minutes=5), int)
        assert_type(sandbox.sent(add), list[SentTask])
        assert_type(sandbox.assert_sent("add", x=1), SentTask)
        sandbox.assert_not_sent(add)
        with sandbox.outage():
            sandbox.sent(5)  # pyright: ignore[reportArgumentType]


async def its_async_verbs_too(sandbox: Sandbox) -> None:
    assert_type(await sandbox.drain_async(), int)
    assert_type(await sandbox.advance_async(days=1), int)
