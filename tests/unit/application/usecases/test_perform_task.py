"""Running a task: whatever the user's code does, a result comes of it that can be stored."""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from horsies.application.ports.performer import Performed
from horsies.application.settings.app import AppConfig
from horsies.domain.codes import ContractErrorCode, OperationalErrorCode
from horsies.domain.errors import TaskInterrupted
from horsies.domain.outcome import Errored, Succeeded, Unresolved
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy
from tests.draining import Unsupervised
from tests.unit.application.usecases.bench import add
from tests.unit.application.usecases.bench import bench as new_bench
from tests.unit.application.usecases.performing import (
    UNHANDLED,
    UNSTORABLE,
    error_of,
    job_of,
    perform,
    perform_async,
    raising,
)


async def test_a_value_is_a_success(bench):
    assert perform(bench, add, b'{"x":1}') == Performed(Succeeded(), b'{"ok":2}')


async def test_an_async_task_is_awaited(bench):
    async def job(x: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=x * 2)

    performed = await perform_async(bench, job, b'{"x":4}')
    assert performed == Performed(Succeeded(), b'{"ok":8}')


async def test_an_async_task_that_raises_gives_an_error(bench):
    async def job() -> TaskResult[int, TaskError]:
        raise ValueError("no")

    assert (await perform_async(bench, job)).outcome == Errored(UNHANDLED)


def test_a_returned_error_is_an_error_with_its_own_code(bench):
    def job() -> TaskResult[int, TaskError]:
        return TaskResult(err=TaskError("OUT_OF_PAPER", "tray 2", {"tray": 2}))

    performed = perform(bench, job)
    assert performed.outcome == Errored("OUT_OF_PAPER")
    assert error_of(bench, performed) == TaskError("OUT_OF_PAPER", "tray 2", {"tray": 2})


def test_an_unknown_name_is_left_to_others(bench):
    performed = bench.perform.prepare("stranger", b"{}")
    assert performed.outcome == Unresolved(OperationalErrorCode.WORKER_RESOLUTION_ERROR)
    assert performed.detail == "this worker has no task named 'stranger'"
    assert performed.result is None


@pytest.mark.parametrize("payload", [b"{}", b'{"x":"one"}', b"[1]", b"not json", b'{"x":1.5}'])
def test_arguments_that_do_not_fit_are_left_to_others_before_a_line_runs(bench, payload):
    ran = []

    def job(x: int) -> TaskResult[int, TaskError]:
        ran.append(x)
        return TaskResult(ok=x)

    bench.define(job)
    performed = bench.perform.prepare("job", payload)
    assert performed.outcome == Unresolved(ContractErrorCode.ARGUMENT_MISMATCH)
    assert performed.detail.startswith("task 'job': ")
    assert ran == []


def test_a_task_is_found_by_its_former_name(bench):
    bench.define(add, "add", aliases=["plus"])
    performed = bench.perform.run(job_of(b'{"x":1}', "plus"), Unsupervised())
    assert performed == Performed(Succeeded(), b'{"ok":2}')


def test_a_returned_error_is_not_an_exception_to_retry_for(bench):
    def job() -> TaskResult[int, TaskError]:
        return TaskResult(err=TaskError("BOOM", exception=ConnectionError()))

    policy = RetryPolicy.fixed([1], auto_retry_for=[Exception])
    assert perform(bench, job, retry_policy=policy).outcome == Errored("BOOM", retryable=False)


@pytest.mark.parametrize("code", [0, 1, "bye", None])
def test_leaving_the_process_is_an_error_of_the_task(bench, code):
    def job() -> TaskResult[int, TaskError]:
        sys.exit(code)

    performed = perform(bench, job)
    assert performed.outcome == Errored(UNHANDLED)
    assert error_of(bench, performed).exception.type == "builtins.SystemExit"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TaskInterrupted])
def test_an_interruption_is_not_swallowed(bench, kind):
    with pytest.raises(kind):
        perform(bench, raising(kind()))


@pytest.mark.parametrize("value", [5, None, "text", (1, 2)])
def test_what_is_no_result_is_a_mismatch(bench, value):
    def job() -> TaskResult[int, TaskError]:
        return value

    performed = perform(bench, job)
    assert performed.outcome == Errored(ContractErrorCode.RETURN_TYPE_MISMATCH)
    message = error_of(bench, performed).message
    kind = type(value).__name__
    assert f"task 'job' returned an object of type {kind}: return TaskResult(ok=" in message


def test_an_error_that_is_no_task_error_is_a_mismatch(bench):
    def job() -> TaskResult[int, TaskError]:
        return TaskResult(err="oops")

    performed = perform(bench, job)
    assert performed.outcome == Errored(ContractErrorCode.RETURN_TYPE_MISMATCH)


def test_a_value_of_another_type_is_a_mismatch_that_does_not_quote_it(bench):
    def job() -> TaskResult[int, TaskError]:
        return TaskResult(ok="hunter2")

    performed = perform(bench, job)
    assert performed.outcome == Errored(ContractErrorCode.RETURN_TYPE_MISMATCH)
    assert "hunter2" not in str(error_of(bench, performed))


@dataclass
class Holder:
    content: Any


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\0", "\ud800", Holder(object()), {"deep": [object()]}]
)
def test_a_value_that_cannot_travel_is_an_error_never_a_stuck_task(bench, value):
    def job() -> TaskResult[Any, TaskError]:
        return TaskResult(ok=value)

    performed = perform(bench, job)
    assert performed.outcome == Errored(UNSTORABLE)
    assert error_of(bench, performed).message.startswith("task 'job': the result")


def test_an_error_whose_data_cannot_travel_keeps_its_code_and_says_what_is_missing(bench):
    def job() -> TaskResult[int, TaskError]:
        return TaskResult(err=TaskError("BOOM", "why", data=object()))

    performed = perform(bench, job)
    assert performed.outcome == Errored("BOOM")
    assert error_of(bench, performed) == TaskError("BOOM", "why", {"unserializable": "object"})


def test_an_error_that_is_too_large_keeps_its_code_and_its_retry():
    bench = new_bench(AppConfig(payload_limit_bytes=2_000))
    policy = RetryPolicy.fixed([1], auto_retry_for=[ValueError])
    performed = perform(bench, raising(ValueError("x" * 9_000)), retry_policy=policy)
    assert performed.outcome == Errored(UNHANDLED, retryable=True)
    assert performed.result is not None
    assert len(performed.result) <= 2_000
    assert "left_out" in error_of(bench, performed).data


def test_a_result_at_the_limit_is_stored_and_above_it_fails_naming_both_sizes():
    bench = new_bench(AppConfig(payload_limit_bytes=100))
    overhead = len(b'{"ok":""}')

    def job(size: int) -> TaskResult[str, TaskError]:
        return TaskResult(ok="x" * size)

    definition = bench.define(job)
    fits = bench.perform.conclude(definition, definition.run((100 - overhead,), {}))
    assert fits.outcome == Succeeded()
    large = bench.perform.conclude(definition, definition.run((101 - overhead,), {}))
    assert large.outcome == Errored(UNSTORABLE)
    assert "its result takes 101 bytes, of at most 100" in error_of(bench, large).message
