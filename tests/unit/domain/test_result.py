"""A result is a value or an error, exactly one, and safe to store."""

import pickle
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from horsies.domain.codes import OperationalErrorCode
from horsies.domain.errors import ResultAccessError
from horsies.domain.result import (
    TRACEBACK_LIMIT,
    ExceptionInfo,
    TaskError,
    TaskResult,
    shorten,
)

ERROR = TaskError("OUT_OF_PAPER", "tray 2 is empty")
MARKER_LENGTH = len(f"\n... {10**9} characters left out ...\n")

values = st.none() | st.integers() | st.text() | st.lists(st.integers())
oks = st.builds(lambda value: TaskResult(ok=value), values)
errs = st.builds(lambda code: TaskResult(err=TaskError(code)), st.text(min_size=1))
results = oks | errs


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class WrongTextError(Exception):
    def __str__(self):
        return 7  # noqa: PLE0307 - that is what is wrong with it


def raised(exception: BaseException) -> BaseException:
    """The exception with a traceback whose frame holds a secret."""
    secret = "hunter2"
    try:
        raise exception  # noqa: TRY301 - the frame is the point
    except BaseException as caught:  # noqa: BLE001 - given back as a value
        assert secret
        return caught


def ping(depth: int) -> None:
    if depth == 0:
        raise ValueError("bottom")
    pong(depth - 1)


def pong(depth: int) -> None:
    ping(depth)


def bottom_of(depth: int) -> ValueError:
    """An exception from so deep that its traceback is long; no two lines in a row are equal."""
    try:
        ping(depth)
    except ValueError as error:
        return error
    raise AssertionError


@given(results)
def test_a_result_is_a_value_or_an_error(result):
    assert result.is_ok() != result.is_err()


def test_none_is_a_value():
    result = TaskResult(ok=None)
    assert (result.is_ok(), result.ok_value) == (True, None)


def test_none_may_be_an_error():
    result = TaskResult(err=None)
    assert (result.is_err(), result.err_value) == (True, None)


@pytest.mark.parametrize("sides", [{}, {"ok": 1, "err": ERROR}, {"ok": None, "err": None}])
def test_a_result_of_neither_or_both_is_refused(sides):
    with pytest.raises(TypeError, match="exactly one"):
        TaskResult(**sides)


@given(values)
def test_a_value_is_given_back_as_it_was(value):
    assert TaskResult(ok=value).unwrap() is value


def test_an_error_is_given_back_as_it_was():
    assert TaskResult(err=ERROR).err_value is ERROR


@pytest.mark.parametrize("access", ["ok_value", "unwrap"])
def test_asking_an_error_for_its_value_raises_with_the_tasks_error(access):
    result = TaskResult(err=ERROR)
    with pytest.raises(ResultAccessError, match="OUT_OF_PAPER: tray 2 is empty") as caught:
        result.unwrap() if access == "unwrap" else result.ok_value
    assert caught.value.error is ERROR


def test_an_error_that_is_no_task_error_is_told_but_not_carried():
    with pytest.raises(ResultAccessError, match="just text") as caught:
        TaskResult(err="just text").unwrap()
    assert caught.value.error is None


def test_asking_a_success_for_its_error_raises():
    with pytest.raises(ResultAccessError, match="succeeded") as caught:
        _ = TaskResult(ok=1).err_value
    assert caught.value.error is None


def test_mapping_changes_a_value():
    assert TaskResult(ok=3).map(str) == TaskResult(ok="3")


def test_mapping_leaves_an_error_alone():
    assert TaskResult(err=ERROR).map(str) == TaskResult(err=ERROR)


@given(results)
def test_mapping_with_identity_changes_nothing(result):
    assert result.map(lambda value: value) == result


def test_a_value_becomes_a_success():
    assert TaskResult(ok=1).to_returns() == Success(1)


def test_an_error_becomes_a_failure():
    assert TaskResult(err=ERROR).to_returns() == Failure(ERROR)


@given(results)
def test_a_result_survives_the_way_through_returns(result):
    assert TaskResult.from_returns(result.to_returns()) == result


@given(values, values)
def test_values_are_equal_when_what_they_hold_is(one, other):
    assert (TaskResult(ok=one) == TaskResult(ok=other)) == (one == other)


@given(values)
def test_a_value_never_equals_an_error(value):
    assert TaskResult(ok=value) != TaskResult(err=value)


def test_a_result_equals_nothing_but_results():
    assert TaskResult(ok=1) != 1


def test_a_result_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(TaskResult(ok=1))


def test_a_value_shows_itself_in_the_repr():
    assert repr(TaskResult(ok="x")) == "TaskResult(ok='x')"


def test_an_error_shows_itself_in_the_repr():
    assert repr(TaskResult(err="x")) == "TaskResult(err='x')"


def test_a_built_in_code_given_as_text_becomes_its_member():
    assert TaskError("WORKER_CRASHED").error_code is OperationalErrorCode.WORKER_CRASHED


def test_a_users_code_stays_text():
    assert type(TaskError("OUT_OF_PAPER").error_code) is str


def test_an_exception_is_kept_as_information():
    error = TaskError("X", exception=ValueError("bad"))
    assert error.exception == ExceptionInfo("builtins.ValueError", "bad", "ValueError: bad\n")


def test_information_about_an_exception_is_kept_as_it_is():
    info = ExceptionInfo("app.Error", "bad")
    assert TaskError("X", exception=info).exception is info


def test_an_error_reads_as_its_code_and_message():
    assert str(ERROR) == "OUT_OF_PAPER: tray 2 is empty"


def test_an_error_without_message_reads_as_its_code():
    assert str(TaskError("WORKER_CRASHED")) == "WORKER_CRASHED"


def test_an_error_cannot_be_changed():
    with pytest.raises(AttributeError):
        ERROR.message = "other"


def test_errors_are_equal_when_all_they_hold_is():
    assert TaskError("X", "m", {"a": 1}) == TaskError("X", "m", {"a": 1})


def test_an_exception_is_named_with_its_module():
    assert ExceptionInfo.of(MuteError()).type == f"{__name__}.MuteError"


def test_the_traceback_says_where_it_was_raised():
    assert "in raised" in ExceptionInfo.of(raised(ValueError("bad"))).traceback


def test_the_cause_of_an_exception_is_kept():
    error = ValueError("bad")
    error.__cause__ = KeyError("deeper")
    assert "deeper" in ExceptionInfo.of(error).traceback


def test_locals_are_never_kept():
    assert "hunter2" not in ExceptionInfo.of(raised(ValueError("bad"))).traceback


@given(st.integers(0, 5 * TRACEBACK_LIMIT))
def test_an_exception_is_bounded_whatever_its_message(length):
    info = ExceptionInfo.of(ValueError("x" * length))
    bound = TRACEBACK_LIMIT + MARKER_LENGTH
    assert max(len(info.message), len(info.traceback)) <= bound


def test_the_traceback_of_a_deep_recursion_is_bounded():
    info = ExceptionInfo.of(bottom_of(300))
    assert len(info.traceback) <= TRACEBACK_LIMIT + MARKER_LENGTH


def test_a_shortened_traceback_still_ends_with_what_was_raised():
    assert ExceptionInfo.of(bottom_of(300)).traceback.endswith("ValueError: bottom\n")


@pytest.mark.parametrize("exception", [MuteError(), WrongTextError()], ids=["raises", "no text"])
def test_an_exception_that_cannot_speak_is_kept_all_the_same(exception):
    assert ExceptionInfo.of(raised(exception)).message.startswith("<no message: str() raised ")


def test_an_exception_that_cannot_speak_says_why():
    assert ExceptionInfo.of(MuteError()).message == "<no message: str() raised RuntimeError>"


@given(st.text(max_size=50), st.integers(50, 100))
def test_a_short_text_stays_as_it_is(text, limit):
    assert shorten(text, limit) == text


@given(st.text(min_size=41, max_size=200), st.integers(2, 40))
def test_a_long_text_keeps_its_head_and_its_tail(text, limit):
    half = limit // 2
    short = shorten(text, limit)
    assert (short[:half], short[-half:]) == (text[:half], text[-half:])


@given(st.integers(41, 10**4), st.integers(2, 40))
def test_a_shortened_text_says_how_much_is_missing(length, limit):
    missing = length - 2 * (limit // 2)
    assert f"\n... {missing} characters left out ...\n" in shorten("x" * length, limit)


@given(st.integers(41, 10**4), st.integers(2, 40))
def test_a_shortened_text_keeps_no_more_than_the_limit(length, limit):
    assert shorten("x" * length, limit).count("x") <= limit


@pytest.mark.parametrize("limit", [0, 1])
def test_the_smallest_limits_keep_nothing_rather_than_everything(limit):
    assert "secret" not in shorten("secret", limit)


@pytest.mark.parametrize("code", ["", None, 7, ["BOOM"]])
def test_an_error_needs_a_code_to_branch_on(code):
    with pytest.raises(TypeError, match="non-empty text"):
        TaskError(code)


@pytest.mark.parametrize("result", [TaskResult(ok=None), TaskResult(err=TaskError("BOOM"))])
@pytest.mark.parametrize("copy", [deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_a_copied_result_is_still_the_same(result, copy):
    again = copy(result)
    assert (again, again.is_ok(), again.is_err()) == (result, result.is_ok(), result.is_err())


def test_an_error_reads_as_its_code_the_exception_and_the_message():
    raised = TaskError("BANG", "tray 2", exception=ValueError("tray 2"))
    assert str(raised) == "BANG: ValueError: tray 2"
    assert str(TaskError("BANG", exception=RuntimeError())) == "BANG: RuntimeError"
    assert str(TaskError("BANG")) == "BANG"
