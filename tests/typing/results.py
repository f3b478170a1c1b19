"""What a type checker makes of results. Checked by basedpyright, never run."""

from typing import assert_type

from horsies import Err, Ok, TaskError, TaskResult


def results_are_inferred_from_what_they_hold() -> None:
    ok: TaskResult[int, TaskError] = TaskResult(ok=1)
    err: TaskResult[int, TaskError] = TaskResult(err=TaskError("BOOM"))
    assert_type(ok.unwrap(), int)
    assert_type(err.err_value, TaskError)
    assert_type(ok.is_ok(), bool)


def mapping_changes_the_value_and_keeps_the_error(result: TaskResult[int, TaskError]) -> None:
    assert_type(result.map(str), TaskResult[str, TaskError])
    assert_type(result.map(lambda n: n / 2).unwrap(), float)
    result.map(len)  # pyright: ignore[reportArgumentType]


def results_are_covariant(result: TaskResult[bool, TaskError]) -> TaskResult[int, TaskError]:
    return result


def and_not_the_other_way(result: TaskResult[int, TaskError]) -> TaskResult[bool, TaskError]:
    return result  # pyright: ignore[reportReturnType]


def results_convert_to_and_from_returns(result: TaskResult[int, TaskError]) -> None:
    converted = result.to_returns()
    assert_type(converted, Ok[int] | Err[TaskError])
    assert_type(TaskResult[int, TaskError].from_returns(converted), TaskResult[int, TaskError])


def wrong_results_are_errors() -> TaskResult[int, TaskError]:
    TaskResult()  # pyright: ignore[reportCallIssue]
    TaskResult(ok=1, err=TaskError("X"))  # pyright: ignore[reportCallIssue]
    TaskResult(1)  # pyright: ignore[reportCallIssue]
    return TaskResult(ok="text")  # pyright: ignore[reportReturnType, reportUnknownVariableType]


def an_error_holds_what_it_was_given() -> None:
    error = TaskError("BOOM", "it went wrong", {"n": 1}, ValueError("x"))
    assert_type(error.error_code, str)
    assert_type(error.message, str | None)
    TaskError()  # pyright: ignore[reportCallIssue]
    TaskError(5)  # pyright: ignore[reportArgumentType]
