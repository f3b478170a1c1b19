"""The context of a task: who it is, what it may tell, and what is around it."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest

from horsies import (
    AppConfig,
    CompletionError,
    CompletionRefusal,
    CurrentTask,
    DefinitionError,
    Horsies,
    HorsiesError,
    NotInTaskError,
    TaskError,
    TaskResult,
    TaskStatus,
    current_app,
    current_task,
)

DONE = TaskResult(ok=None)


@pytest.fixture
def app() -> Horsies:
    return Horsies(AppConfig(payload_limit_bytes=1_000))


def run(app, function, **options):
    """Run it as a task in a sandbox; its result."""
    task = app.task("job", **options)(function)
    with app.testing():
        return task.send().get()


@pytest.mark.parametrize("ask", [current_task, current_app])
def test_outside_a_task_there_is_none(ask):
    with pytest.raises(NotInTaskError, match=r"app\.testing\(\)") as caught:
        ask()
    assert isinstance(caught.value, HorsiesError)
    assert isinstance(caught.value, RuntimeError)


def test_a_task_knows_itself_and_its_app(app):
    seen = []

    @app.task("job")
    def job() -> TaskResult[None, TaskError]:
        task = current_task()
        seen.append((task.id, task.name, task.queue, task.attempt, task.is_cancelled, task.state))
        assert current_app() is app
        return DONE

    with app.testing():
        handle = job.send()
        handle.get().unwrap()
    assert seen == [(handle.task_id, "job", "default", 1, False, None)]


def test_when_a_task_has_ended_there_is_none_again(app):
    def job() -> TaskResult[None, TaskError]:
        return DONE

    run(app, job)
    with pytest.raises(NotInTaskError):
        current_task()


def test_a_task_that_waits_for_another_is_itself_again_afterwards(app):
    names = []

    @app.task("inner")
    def inner() -> TaskResult[None, TaskError]:
        names.append(current_task().name)
        return DONE

    @app.task("outer")
    def outer() -> TaskResult[None, TaskError]:
        inner.send().get()
        names.append(current_task().name)
        return DONE

    with app.testing():
        outer.send().get().unwrap()
    assert names == ["inner", "outer"]


async def test_async_tasks_are_apart_and_their_threads_inherit(app):
    @app.task("job")
    async def job() -> TaskResult[str, TaskError]:
        await asyncio.sleep(0)
        mine = await asyncio.to_thread(current_task)
        return TaskResult(ok=str(mine.id))

    with app.testing():
        handles = [await job.send_async() for _ in range(3)]
        results = await asyncio.gather(*(handle.get_async() for handle in handles))
    assert [result.unwrap() for result in results] == [str(handle.task_id) for handle in handles]


def test_a_thread_inherits_by_a_copied_context_and_not_otherwise(app):
    def job() -> TaskResult[list[str], TaskError]:
        seen = []

        def look() -> None:
            try:
                seen.append(current_task().name)
            except NotInTaskError:
                seen.append("nobody")

        context = contextvars.copy_context()
        for target in (look, lambda: context.run(look)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        return TaskResult(ok=seen)

    assert run(app, job).unwrap() == ["nobody", "job"]


def test_progress_is_seen_at_once_in_a_sandbox_and_gone_afterwards(app):
    seen = []

    @app.task("job")
    def job() -> TaskResult[None, TaskError]:
        current_task().progress(0.4, "page 2")
        info = job.handle(current_task().id).info()
        seen.append((info.progress, info.progress_note))
        return DONE

    with app.testing():
        handle = job.send()
        handle.get().unwrap()
        seen.append((handle.info().progress, handle.info().progress_note))
    assert seen == [(0.4, "page 2"), (None, None)]


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), float("inf")])
def test_progress_is_a_fraction(app, fraction):
    def job() -> TaskResult[None, TaskError]:
        current_task().progress(fraction)
        return DONE

    assert "a fraction from 0 to 1" in run(app, job).err_value.message


def test_the_log_names_the_run_and_keeps_what_is_given(app, caplog):
    def job() -> TaskResult[None, TaskError]:
        current_task().log.warning("hello", extra={"page": 3})
        return DONE

    run(app, job)
    (record,) = caplog.records
    assert (record.name, record.task, record.attempt, record.page) == ("horsies.task", "job", 1, 3)
    assert isinstance(record.task_id, str)
    assert record.levelno == logging.WARNING


class TestMiddleware:
    @pytest.fixture
    def seen(self, app) -> list[str]:
        seen = []

        @app.middleware
        def outer(task: CurrentTask) -> Iterator[None]:
            assert current_task() is task
            seen.append(f"outer {task.name}")
            try:
                yield
            except ValueError as error:
                seen.append(f"outer saw {error}")
                raise
            seen.append("outer out")

        @app.middleware
        async def inner(task: CurrentTask) -> AsyncIterator[None]:
            seen.append(f"inner {task.name}")
            yield
            seen.append("inner out")

        return seen

    def test_sync_ones_are_around_sync_tasks(self, app, seen):
        def job() -> TaskResult[None, TaskError]:
            seen.append("job")
            return DONE

        assert run(app, job).is_ok()
        assert seen == ["outer job", "job", "outer out"]

    def test_both_kinds_are_around_async_tasks_as_registered(self, app, seen):
        async def job() -> TaskResult[None, TaskError]:
            seen.append("job")
            return DONE

        assert run(app, job).is_ok()
        assert seen == ["outer job", "inner job", "job", "inner out", "outer out"]

    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_they_see_what_a_task_raises(self, app, seen, kind):
        def job() -> TaskResult[None, TaskError]:
            raise ValueError("no")

        async def job_async() -> TaskResult[None, TaskError]:
            raise ValueError("no")

        error = run(app, job if kind == "sync" else job_async).err_value
        assert (error.message, seen[-1]) == ("no", "outer saw no")

    def test_what_they_raise_is_the_error_of_the_task(self, app):
        @app.middleware
        def broken(task: CurrentTask) -> Iterator[None]:
            raise LookupError("no session")
            yield

        def job() -> TaskResult[None, TaskError]:
            raise AssertionError("it must not run")

        error = run(app, job, exception_mapper={LookupError: "NO_SESSION"}).err_value
        assert (error.error_code, error.message) == ("NO_SESSION", "no session")

    def test_an_exception_that_they_swallow_leaves_no_result(self, app):
        @app.middleware
        def forgiving(task: CurrentTask) -> Iterator[None]:
            with suppress(ValueError):
                yield

        def job() -> TaskResult[None, TaskError]:
            raise ValueError

        assert run(app, job).err_value.error_code == "RETURN_TYPE_MISMATCH"


def plain(task: CurrentTask) -> None: ...


def needs_more(task: CurrentTask, more: int) -> Iterator[None]:
    yield


def sync_lifespan() -> Iterator[None]:
    yield


async def takes_something(app: Horsies) -> AsyncIterator[None]:
    yield


@pytest.mark.parametrize("function", [plain, needs_more, object()])
def test_what_is_no_middleware_is_refused(app, function):
    with pytest.raises(DefinitionError, match="HRS-114"):
        app.middleware(function)


@pytest.mark.parametrize("function", [plain, sync_lifespan, takes_something])
def test_what_is_no_lifespan_is_refused(app, function):
    with pytest.raises(DefinitionError, match="HRS-114"):
        app.lifespan(function)


class TestCompleteIn:
    @pytest.fixture(params=["sync", "async"])
    def complete(self, request):
        """A task that completes itself, and what it does then."""

        def of(result, then=lambda: None):
            def job() -> TaskResult[int, TaskError]:
                returned = current_task().complete_in(object(), result)
                assert returned is result
                then()
                return TaskResult(ok=2)

            async def job_async() -> TaskResult[int, TaskError]:
                returned = await current_task().complete_in_async(object(), result)
                assert returned is result
                then()
                return TaskResult(ok=2)

            return job if request.param == "sync" else job_async

        return of

    def test_the_stored_result_stands(self, app, complete):
        assert run(app, complete(TaskResult(ok=1))).unwrap() == 1

    def test_an_exception_afterwards_comes_too_late(self, app, complete):
        def fail() -> None:
            raise ValueError

        task = app.task("job")(complete(TaskResult(ok=1), fail))
        with app.testing():
            handle = task.send()
            assert handle.get().unwrap() == 1
            assert handle.info().status is TaskStatus.COMPLETED

    @pytest.mark.parametrize(
        ("result", "words"),
        [
            (TaskResult(err=TaskError("BOOM")), "return an error"),
            (3, "complete_in takes TaskResult"),
            (TaskResult(ok="text"), "int"),
        ],
        ids=["an error", "no result", "another type"],
    )
    def test_a_result_that_does_not_fit_is_refused(self, app, complete, result, words):
        error = run(app, complete(result), exception_mapper={CompletionError: "UNFIT"}).err_value
        assert error.error_code == "UNFIT"
        assert words in error.message

    def test_a_result_over_the_limit_is_refused(self, app):
        def job() -> TaskResult[str, TaskError]:
            return current_task().complete_in(object(), TaskResult(ok="x" * 1_000))

        assert "1009 bytes, of at most 1000" in run(app, job).err_value.message

    def test_a_second_completion_is_refused(self, app):
        refusals = []

        def job() -> TaskResult[int, TaskError]:
            current_task().complete_in(object(), TaskResult(ok=1))
            try:
                current_task().complete_in(object(), TaskResult(ok=2))
            except CompletionError as error:
                refusals.append(error.refusal)
            return TaskResult(ok=3)

        assert run(app, job).unwrap() == 1
        assert refusals == [CompletionRefusal.REPEATED]
