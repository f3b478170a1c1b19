"""What a task raises becomes an error: its code, its text, its traceback, its retry."""

from collections.abc import Iterator

import pytest

from horsies.application.context import CurrentTask
from horsies.application.settings.app import AppConfig
from horsies.domain.errors import ResultAccessError
from horsies.domain.outcome import Errored
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy
from tests.unit.application.usecases.bench import bench as new_bench
from tests.unit.application.usecases.performing import (
    UNHANDLED,
    OutOfPaperError,
    error_of,
    perform,
    perform_async,
    raising,
)


class TestExceptions:
    """Task mapper, app mapper, task default, app default: the first that knows it names it."""

    def code(self, exception, app=None, **options):
        bench = new_bench(AppConfig(**(app or {})))
        return perform(bench, raising(exception), **options).outcome.code

    def test_the_task_s_mapper_comes_first(self):
        code = self.code(
            OutOfPaperError(),
            {"exception_mapper": {OutOfPaperError: "APP"}},
            exception_mapper={OutOfPaperError: "TASK"},
            default_unhandled_error_code="TASK_DEFAULT",
        )
        assert code == "TASK"

    def test_a_farther_class_of_the_task_s_mapper_beats_a_nearer_one_of_the_app_s(self):
        code = self.code(
            OutOfPaperError(),
            {"exception_mapper": {OutOfPaperError: "APP"}},
            exception_mapper={OSError: "TASK"},
        )
        assert code == "TASK"

    def test_the_app_s_mapper_comes_next(self):
        code = self.code(
            OutOfPaperError(),
            {"exception_mapper": {ConnectionError: "APP"}},
            exception_mapper={KeyError: "TASK"},
            default_unhandled_error_code="TASK_DEFAULT",
        )
        assert code == "APP"

    def test_the_nearest_class_wins_whatever_the_order(self):
        mapper = {Exception: "ANY", OSError: "OS", ConnectionError: "CONNECTION"}
        assert self.code(OutOfPaperError(), exception_mapper=mapper) == "CONNECTION"

    def test_then_comes_the_task_s_default(self):
        app = {"default_unhandled_error_code": "APP_DEFAULT"}
        code = self.code(ValueError(), app, default_unhandled_error_code="TASK_DEFAULT")
        assert code == "TASK_DEFAULT"

    def test_then_comes_the_app_s_default(self):
        assert self.code(ValueError(), {"default_unhandled_error_code": "APP"}) == "APP"

    def test_without_any_it_is_unhandled(self):
        assert self.code(ValueError()) is UNHANDLED

    def test_the_error_tells_what_was_raised(self, bench):
        error = error_of(bench, perform(bench, raising(OutOfPaperError("tray 2"))))
        assert (error.message, str(error).split(": ")[1:]) == (
            "tray 2",
            ["OutOfPaperError", "tray 2"],
        )
        assert error.exception.type == f"{OutOfPaperError.__module__}.OutOfPaperError"
        assert error.exception.message == "tray 2"

    def test_a_failed_unwrap_is_an_exception_like_any_other(self, bench):
        def job() -> TaskResult[int, TaskError]:
            return TaskResult(ok=TaskResult(err=TaskError("INNER", "deep")).unwrap())

        error = error_of(bench, perform(bench, job))
        assert error.error_code is UNHANDLED
        assert error.message == "there is no value: INNER: deep"
        assert error.exception.type.endswith(ResultAccessError.__qualname__)


class TestTracebacks:
    def trace(self, bench, function):
        return error_of(bench, perform(bench, function)).exception.traceback

    def test_a_traceback_begins_in_the_user_s_code(self, bench):
        def helper():
            raise ValueError("deep down")

        def job() -> TaskResult[int, TaskError]:
            helper()
            raise AssertionError

        lines = self.trace(bench, job).splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert lines[1].endswith("in job")
        assert lines[-1] == "ValueError: deep down"
        assert "horsies" not in "".join(lines).replace(__file__, "")

    async def test_so_it_does_for_async_tasks(self, bench):
        async def job() -> TaskResult[int, TaskError]:
            raise ValueError("deep down")

        performed = await perform_async(bench, job)
        lines = error_of(bench, performed).exception.traceback.splitlines()
        assert lines[1].endswith("in job")

    def test_so_it_does_inside_middlewares(self, bench):
        def around(task: CurrentTask) -> Iterator[None]:
            yield

        def job() -> TaskResult[int, TaskError]:
            raise ValueError("deep down")

        bench.registry.hooks.add_middleware(around)
        lines = self.trace(bench, job).splitlines()
        assert lines[1].endswith("in job")

    def test_a_traceback_holds_no_locals(self, bench):
        def job() -> TaskResult[int, TaskError]:
            secret = "2retnuh"[::-1]
            raise ValueError(len(secret))

        assert "hunter2" not in self.trace(bench, job)

    def test_a_traceback_tells_the_cause(self, bench):
        def job() -> TaskResult[int, TaskError]:
            try:
                {}["first"]
            except KeyError as error:
                raise ValueError("second") from error

        trace = self.trace(bench, job)
        assert trace.index("KeyError: 'first'") < trace.index("ValueError: second")

    def test_a_long_traceback_is_bounded(self, bench):
        def job() -> TaskResult[int, TaskError]:
            raise ValueError("x" * 100_000)

        assert len(self.trace(bench, job)) < 9_000

    def test_an_exception_whose_text_cannot_be_had_is_still_an_error(self, bench):
        class MuteError(Exception):
            def __str__(self):
                raise RuntimeError

        error = error_of(bench, perform(bench, raising(MuteError())))
        assert error.message == "<no message: str() raised RuntimeError>"


@pytest.mark.parametrize("text", ["half a pair \udcff", "NUL \0 inside"])
def test_an_exception_with_an_illegible_text_keeps_its_code_and_its_retry(bench, text):
    policy = RetryPolicy.fixed([1], auto_retry_for=[OSError])
    mapper = {OSError: "DISK"}
    performed = perform(bench, raising(OSError(text)), retry_policy=policy, exception_mapper=mapper)
    assert performed.outcome == Errored("DISK", retryable=True)


@pytest.mark.parametrize(
    ("exception", "retryable"),
    [(OutOfPaperError(), True), (ConnectionError(), True), (OSError(), False), (KeyError(), False)],
)
def test_a_class_to_retry_for_covers_its_subclasses(bench, exception, retryable):
    policy = RetryPolicy.fixed([1], auto_retry_for=[ConnectionError])
    performed = perform(bench, raising(exception), retry_policy=policy)
    assert performed.outcome == Errored(UNHANDLED, retryable=retryable)
