"""Handles: reading, cancelling and retrying a task, from wherever its id is known."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from horsies import (
    BrokerError,
    BrokerFault,
    CancelAnswer,
    OperationalErrorCode,
    OutcomeErrorCode,
    RetrievalErrorCode,
    RetryPolicy,
    TaskError,
    TaskHandle,
    TaskResult,
    TaskStatus,
)
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.testing import Sandbox
from tests.unit.entrypoints.handle_tasks import (
    START,
    add,
    app,
    fail,
    flaky,
    fresh_sandbox,
    runs,
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with fresh_sandbox() as sandbox:
        yield sandbox


@dataclass
class FailsOnce:
    """A store that cannot answer the first time."""

    inner: UnitOfWork
    failed: bool = False

    def __call__(self) -> Any:
        if self.failed:
            return self.inner()
        self.failed = True
        raise BrokerError("no route", fault=BrokerFault.CONNECTION)


@pytest.mark.usefixtures("sandbox")
class TestGet:
    def test_a_result_is_kept_and_not_fetched_again(self, sandbox):
        handle = add.send(1)
        first = handle.get()
        sandbox.advance(days=31)
        assert handle.get() is first

    def test_an_error_of_the_task_is_kept_too(self, sandbox):
        handle = fail.send()
        handle.get()
        sandbox.advance(days=31)
        assert handle.get().err_value == TaskError("BOOM", "it went wrong")

    def test_a_task_that_is_not_due_is_a_timeout_which_is_not_kept(self, sandbox):
        handle = add.schedule(60, 1)
        assert handle.get(timeout_ms=5).err_value.error_code is RetrievalErrorCode.WAIT_TIMEOUT
        sandbox.advance(seconds=60)
        assert handle.get() == TaskResult(ok=2)

    def test_a_task_that_is_not_found_is_not_kept_as_such(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
        handle = app.handle(error.task_id)
        assert handle.get().err_value.error_code is RetrievalErrorCode.TASK_NOT_FOUND
        add.retry_send(error)
        assert handle.get() == TaskResult(ok=2)

    def test_a_broker_error_is_an_error_that_is_not_kept(self, sandbox):
        sent, runtime = add.send(1), sandbox.runtime
        unsteady = FailsOnce(runtime.await_results.unit_of_work)
        waiting = replace(runtime.await_results, unit_of_work=unsteady)
        handle = TaskHandle[int](replace(runtime, await_results=waiting), sent.task_id)
        assert handle.get().err_value.error_code is OperationalErrorCode.BROKER_ERROR
        assert handle.get() == TaskResult(ok=2)

    def test_a_cancelled_task_gives_its_outcome(self):
        handle = add.schedule(60, 1)
        handle.cancel()
        assert handle.get().err_value.error_code is OutcomeErrorCode.TASK_CANCELLED

    @pytest.mark.parametrize("ago", [0, 1])
    def test_a_task_sent_too_late_is_expired_at_the_first_look(self, ago):
        handle = add.with_options(good_until=START - timedelta(seconds=ago)).send(1)
        assert handle.get().err_value.error_code is OutcomeErrorCode.TASK_EXPIRED

    async def test_get_async_does_the_same(self):
        handle = await add.send_async(1)
        first = await handle.get_async()
        assert first == TaskResult(ok=2)
        assert await handle.get_async() is first


@pytest.mark.usefixtures("sandbox")
class TestInfo:
    def test_info_tells_the_life_of_a_task(self, sandbox):
        handle = add.send(1)
        waiting = handle.info()
        assert (waiting.status, waiting.attempt, waiting.worker) == (TaskStatus.PENDING, 0, None)
        sandbox.drain()
        done = handle.info()
        assert (done.status, done.attempt, done.error) == (TaskStatus.COMPLETED, 1, None)
        assert (done.sent_at, done.started_at, done.finished_at) == (START,) * 3
        assert done.worker is not None

    def test_info_tells_of_the_next_retry(self, sandbox):
        handle = flaky.send()
        sandbox.drain()
        info = handle.info()
        assert (info.status, info.retries) == (TaskStatus.PENDING, 1)
        assert info.next_retry_at == START + timedelta(minutes=1)
        assert [str(attempt.error) for attempt in info.attempts] == [
            "UNHANDLED_EXCEPTION: ConnectionError: no answer"
        ]

    async def test_info_async_does_the_same(self):
        assert (await (await add.send_async(1)).info_async()).name == "add"

    def test_an_unknown_task_has_none(self):
        assert app.handle(UUID(int=5)).info() is None


@pytest.mark.usefixtures("sandbox")
class TestCancel:
    def test_a_waiting_task_is_cancelled_and_never_runs(self, sandbox):
        handle = add.send(1)
        assert handle.cancel() is CancelAnswer.CANCELLED
        assert sandbox.drain() == 0
        assert runs == []

    def test_a_waiting_retry_is_cancelled(self, sandbox):
        handle = flaky.send()
        sandbox.drain()
        assert handle.cancel() is CancelAnswer.CANCELLED
        assert sandbox.advance(hours=1) == 0
        assert len(handle.info().attempts) == 1

    def test_an_ended_task_says_so(self):
        handle = add.send(1)
        handle.get()
        assert handle.cancel() is CancelAnswer.ALREADY_TERMINAL

    async def test_cancel_async_does_the_same(self):
        assert await app.handle(UUID(int=5)).cancel_async() is CancelAnswer.NOT_FOUND

    def test_a_running_task_is_asked_and_its_normal_return_stands(self):
        box: list[TaskHandle[str]] = []

        @app.task("hesitant")
        def hesitant() -> TaskResult[str, TaskError]:
            return TaskResult(ok=str(box[0].cancel()))

        box.append(hesitant.send())
        assert box[0].get() == TaskResult(ok="REQUESTED")
        assert box[0].info().status is TaskStatus.COMPLETED

    def test_a_running_task_that_was_asked_is_not_retried(self, sandbox):
        box: list[TaskHandle[str]] = []

        @app.task("stubborn", retry_policy=RetryPolicy.fixed([1]))
        def stubborn() -> TaskResult[str, TaskError]:
            box[0].cancel()
            raise ValueError("interrupted")

        box.append(stubborn.send())
        sandbox.advance(hours=1)
        assert (box[0].info().status, box[0].info().attempt) == (TaskStatus.FAILED, 1)


@pytest.mark.usefixtures("sandbox")
class TestRetry:
    def test_an_ended_task_runs_once_more_as_a_new_one(self):
        first = fail.send()
        first.get()
        second = first.retry()
        assert second != first
        assert second.info().retry_of == first.task_id
        assert second.get().err_value.error_code == "BOOM"

    async def test_retry_async_does_the_same(self):
        first = await add.send_async(1)
        await first.get_async()
        assert await (await first.retry_async()).get_async() == TaskResult(ok=2)

    def test_a_live_task_cannot_be_retried(self):
        with pytest.raises(BrokerError, match="is still PENDING"):
            add.send(1).retry()

    def test_an_unknown_task_cannot_be_retried(self):
        with pytest.raises(BrokerError, match="is not known"):
            app.handle(UUID(int=5)).retry()


@pytest.mark.usefixtures("sandbox")
class TestRebuilding:
    def test_a_handle_is_rebuilt_from_its_id_as_text_or_uuid(self):
        sent = add.send(1)
        for task_id in (str(sent.task_id), sent.task_id):
            for rebuilt in (app.handle(task_id), add.handle(task_id)):
                assert rebuilt == sent
                assert hash(rebuilt) == hash(sent)
                assert rebuilt.get() == TaskResult(ok=2)

    @pytest.mark.parametrize("bad", ["", "nonsense", 5, None, b"x", "g" * 32])
    def test_what_is_no_id_is_refused(self, bad):
        with pytest.raises(ValueError, match="is not the id of a task"):
            app.handle(bad)

    def test_a_handle_shows_its_id(self):
        handle = app.handle(UUID(int=5))
        assert repr(handle) == "TaskHandle('00000000-0000-0000-0000-000000000005')"
        assert handle != "00000000-0000-0000-0000-000000000005"
