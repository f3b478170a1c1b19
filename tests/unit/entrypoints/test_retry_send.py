"""Replaying a send whose outcome is unknown: never a second task."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from horsies import (
    BrokerError,
    BrokerFault,
    Horsies,
    SendErrorCode,
    TaskError,
    TaskResult,
    TaskSendError,
)
from horsies.testing import Sandbox

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

app = Horsies()


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("wait")
def wait(delay: int, eta: str = "soon") -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{delay} {eta}")


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with app.testing(START) as sandbox:
        yield sandbox


class LostAcknowledgement:
    """The sandbox's inbox, which does its work and then loses the connection."""

    def __init__(self, inbox) -> None:
        self._inbox = inbox

    def accept(self, batch, connection=None):
        self._inbox.accept(batch, connection)
        raise BrokerError("the connection was lost", fault=BrokerFault.CONNECTION)

    async def accept_async(self, batch, connection=None):
        return self.accept(batch, connection)


@pytest.fixture
def losing(sandbox):
    """Inside, sends arrive but nobody hears of it."""
    steady = sandbox.runtime
    lossy = replace(steady.enqueue, inbox=LostAcknowledgement(steady.enqueue.inbox))

    @contextmanager
    def lose() -> Iterator[None]:
        sandbox.runtime = replace(steady, enqueue=lossy)
        yield
        sandbox.runtime = steady

    return lose


@pytest.mark.usefixtures("sandbox")
class TestRetrySend:
    def test_a_send_that_never_arrived_is_made_up_for(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
        assert (error.code, error.retryable) == (SendErrorCode.ENQUEUE_FAILED, True)
        handle = add.retry_send(error)
        assert handle.task_id == error.task_id
        assert handle.get().unwrap() == 2

    async def test_the_async_verb_does_the_same(self, sandbox):
        with sandbox.outage():
            error = (await add.try_send_async(1)).failure()
        assert (await add.retry_send_async(error)).task_id == error.task_id

    def test_a_lost_acknowledgement_makes_no_second_task(self, sandbox, losing):
        with losing():
            error = add.try_send(1).failure()
        handle = add.retry_send(error)
        assert handle.task_id == error.task_id
        assert sandbox.drain() == 1

    def test_nor_does_it_after_the_first_copy_has_ended(self, sandbox, losing):
        with losing():
            error = add.try_send(1).failure()
        assert sandbox.drain() == 1
        handle = add.retry_send(error)
        assert sandbox.drain() == 0
        assert handle.get() == TaskResult(ok=2)

    def test_a_replay_may_be_repeated(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
            with pytest.raises(TaskSendError) as caught:
                add.retry_send(error)
        assert caught.value.task_id == error.task_id
        assert add.retry_send(caught.value) == add.retry_send(error)
        assert sandbox.drain() == 1

    def test_a_replay_older_than_the_retention_is_refused(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
        sandbox.advance(days=30)
        with pytest.raises(TaskSendError, match="REPLAY_TOO_OLD"):
            add.retry_send(error)

    def test_many_are_replayed_together(self, sandbox):
        with sandbox.outage(), pytest.raises(TaskSendError) as caught:
            add.send_many([{"x": 1}, {"x": 2}])
        handles = add.retry_send_many(caught.value)
        assert [handle.get().unwrap() for handle in handles] == [2, 3]

    async def test_many_are_replayed_together_by_the_async_verb(self, sandbox):
        with sandbox.outage(), pytest.raises(TaskSendError) as caught:
            await add.send_many_async([{"x": 1}, {"x": 2}])
        assert len(await add.retry_send_many_async(caught.value)) == 2

    def test_an_error_about_many_asks_for_the_verb_for_many(self, sandbox):
        with sandbox.outage(), pytest.raises(TaskSendError) as caught:
            add.send_many([{"x": 1}, {"x": 2}])
        with pytest.raises(ValueError, match="use retry_send_many"):
            add.retry_send(caught.value)

    def test_the_error_of_another_task_is_refused(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
        with pytest.raises((ValueError, TaskSendError)):
            wait.retry_send(error)

    def test_an_error_travels_between_processes(self, sandbox):
        with sandbox.outage():
            error = pickle.loads(pickle.dumps(add.try_send(1).failure()))
        assert add.retry_send(error).get().unwrap() == 2

    def test_what_never_left_says_so(self):
        error = add.try_send("one").failure()  # pyright: ignore[reportArgumentType] - under test
        with pytest.raises(TaskSendError, match="mend it and send it anew"):
            add.retry_send(error)
