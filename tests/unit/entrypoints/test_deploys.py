"""What is queued outlives deploys: old producers and new workers understand each other."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from horsies import (
    Horsies,
    OperationalErrorCode,
    RetryPolicy,
    TaskError,
    TaskHandle,
    TaskResult,
    TaskStatus,
)
from horsies.domain.sending import Batch
from horsies.entrypoints.testing.sandbox import Sandbox


@pytest.fixture
def deploy() -> Callable[[Horsies, Sandbox], Sandbox]:
    """Another version of the app takes the place of the one that sent, on the same engine."""

    def swap(new: Horsies, sandbox: Sandbox) -> Sandbox:
        vars(sandbox.runtime.enqueue.registry).update(vars(new._registry))
        return sandbox

    return swap


def app_with(function: Callable[..., Any], name: str = "resize", **options: Any):
    app = Horsies()
    return app, app.task(name, **options)(function)


def resize_v1(image_id: int, width: int = 800) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{image_id}:{width}")


def with_a_new_default(
    image_id: int, width: int = 800, quality: int = 75
) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{image_id}:{width}:{quality}")


def without_the_optional(image_id: int) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{image_id}")


def with_a_new_required(image_id: int, quality: int) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{image_id}:{quality}")


def test_a_parameter_added_with_a_default_takes_it(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(with_a_new_default)
    with old.testing() as sandbox:
        handle = sender.send(7, width=300)
        deploy(new, sandbox)
        assert handle.get().unwrap() == "7:300:75"


def test_a_removed_optional_parameter_is_dropped(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(without_the_optional)
    with old.testing() as sandbox:
        handle = sender.send(7, width=300)
        deploy(new, sandbox)
        assert handle.get().unwrap() == "7"


def test_a_new_producer_may_send_what_an_old_worker_does_not_take(deploy):
    new, sender = app_with(with_a_new_default)
    old, _ = app_with(resize_v1)
    with new.testing() as sandbox:
        handle = sender.send(7, quality=10)
        deploy(old, sandbox)
        assert handle.get().unwrap() == "7:800"


def test_a_renamed_task_answers_to_its_former_name(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(resize_v1, "images.resize", aliases=["resize"])
    with old.testing() as sandbox:
        handle = sender.send(7)
        deploy(new, sandbox)
        assert handle.get().unwrap() == "7:800"
        assert handle.info().name == "resize"


def test_a_task_that_fails_under_its_former_name_is_retried_under_it(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(resize_v1, "images.resize", aliases=["resize"])
    with old.testing() as sandbox:
        handle = sender.send(7)
        deploy(new, sandbox)
        handle.get()
        assert handle.retry().get().unwrap() == "7:800"


def test_what_was_agreed_at_send_holds_after_a_deploy(deploy):
    def fail() -> TaskResult[None, TaskError]:
        return TaskResult(err=TaskError("BOOM"))

    patient = RetryPolicy.fixed([60], auto_retry_for=["BOOM"])
    old, sender = app_with(fail, retry_policy=patient)
    new, _ = app_with(fail)
    with old.testing() as sandbox:
        handle = sender.send()
        deploy(new, sandbox)
        sandbox.drain()
        assert handle.info().retries == 1


def test_a_send_of_before_a_rename_can_be_replayed_after_it(deploy):
    old, sender = app_with(resize_v1)
    new, renamed = app_with(resize_v1, "images.resize", aliases=["resize"])
    with old.testing() as sandbox, sandbox.outage():
        error = sender.try_send(7).failure()
    with new.testing():
        assert renamed.retry_send(error).get().unwrap() == "7:800"


def test_a_task_that_a_worker_does_not_know_yet_waits_for_one_that_does(deploy):
    new, sender = app_with(resize_v1)
    old = Horsies()
    with new.testing() as sandbox:
        handle = sender.send(7)
        deploy(old, sandbox)
        sandbox.advance(minutes=1)
        assert handle.info().status is TaskStatus.PENDING
        deploy(app_with(resize_v1)[0], sandbox)
        sandbox.advance(minutes=2)
        assert handle.get().unwrap() == "7:800"
        assert handle.info().attempt == 1


def test_a_task_that_nobody_knows_fails_after_the_grace(deploy):
    old, sender = app_with(resize_v1)
    with old.testing() as sandbox:
        handle = sender.send(7)
        deploy(Horsies(), sandbox)
        sandbox.advance(minutes=4)
        assert handle.info().status is TaskStatus.PENDING
        sandbox.advance(minutes=4)
        error = handle.get().err_value
        assert error.error_code is OperationalErrorCode.WORKER_RESOLUTION_ERROR


def test_arguments_that_no_longer_fit_fail_after_the_grace_as_what_they_are(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(with_a_new_required)
    with old.testing() as sandbox:
        handle = sender.send(7)
        deploy(new, sandbox)
        sandbox.advance(minutes=8)
        assert handle.get().err_value.error_code == "ARGUMENT_MISMATCH"
        assert handle.info().attempts == ()


def test_arguments_that_no_longer_fit_run_once_they_fit_again(deploy):
    old, sender = app_with(resize_v1)
    new, _ = app_with(with_a_new_required)
    with old.testing() as sandbox:
        handle = sender.send(7)
        deploy(new, sandbox)
        sandbox.advance(minutes=1)
        deploy(app_with(resize_v1)[0], sandbox)
        sandbox.advance(minutes=2)
        assert handle.get().unwrap() == "7:800"


def test_a_stored_call_of_an_older_version_runs():
    app, _ = app_with(with_a_new_default)
    with app.testing() as sandbox:
        enqueue = sandbox.runtime.enqueue
        with sandbox.outage():
            task = app.task("probe")(resize_v1).try_send(1).failure().tasks[0]
        stored = replace(task, name="resize", payload=b'{"image_id":7,"format":"png"}')
        enqueue.inbox.accept(Batch(tasks=[stored]))
        assert app.handle(stored.id).get().unwrap() == "7:800:75"


class TestOnFailure:
    def build(self, by):
        app = Horsies()
        seen: list[tuple[str, str]] = []

        @app.task("clean_up", aliases=["tidy"])
        def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
            seen.append((task_id, str(error)))
            return TaskResult(ok=None)

        handler = clean_up if by == "function" else by

        @app.task("job", on_failure=handler)
        def job(*, well: bool) -> TaskResult[int, TaskError]:
            if well:
                return TaskResult(ok=1)
            raise ValueError("not well")

        return app, job, seen

    @pytest.mark.parametrize("by", ["function", "clean_up", "tidy"])
    def test_a_failure_calls_the_handler_with_id_and_error(self, by):
        app, job, seen = self.build(by)
        with app.testing() as sandbox:
            handle: TaskHandle[int] = job.send(well=False)
            assert sandbox.drain() == 2
            assert seen == [(str(handle.task_id), "UNHANDLED_EXCEPTION: ValueError: not well")]

    def test_a_success_calls_nobody(self):
        app, job, seen = self.build("function")
        with app.testing() as sandbox:
            job.send(well=True)
            assert sandbox.drain() == 1
            assert seen == []

    def test_what_was_called_on_failure_is_seen_as_sent(self):
        app, job, _ = self.build("function")
        with app.testing() as sandbox:
            handle = job.send(well=False)
            sandbox.drain()
            assert sandbox.assert_sent("clean_up", task_id=str(handle.task_id))

    def test_a_handler_that_fails_calls_nobody(self):
        app = Horsies()

        @app.task("clean_up", on_failure="clean_up")
        def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
            raise ValueError("again")

        @app.task("job", on_failure=clean_up)
        def job() -> TaskResult[int, TaskError]:
            raise ValueError("once")

        with app.testing() as sandbox:
            job.send()
            assert sandbox.drain() == 2
