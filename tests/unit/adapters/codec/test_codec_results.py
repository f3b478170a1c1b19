"""Results and errors as they are stored."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.adapters.codec.codec_samples import Line, giving, taking

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import MismatchError, UnfitValueError
from horsies.domain.codes import RESERVED_CODES, OperationalErrorCode
from horsies.domain.ids import TaskId
from horsies.domain.result import ExceptionInfo, TaskError, TaskResult

TASK = TaskId(UUID(int=7))
FAILURE = TaskError("NO_PAPER", "tray 2", {"tray": 2}, ExceptionInfo("E", "boom", "line 1"))


def failed(error: TaskError) -> TaskResult[Any, TaskError]:
    return TaskResult(err=error)


def test_none_is_a_result():
    assert giving(None).encode_result(TaskResult(ok=None)) == b'{"ok":null}'
    assert giving(None).decode_result(b'{"ok":null}') == TaskResult(ok=None)


def test_an_error_arrives_as_it_was_returned():
    codec = giving(int)
    assert codec.decode_result(codec.encode_result(failed(FAILURE))) == failed(FAILURE)


def test_fields_left_out_of_an_error_are_none():
    assert giving(int).decode_result(b'{"err":{"error_code":"X"}}') == failed(TaskError("X"))


@pytest.mark.parametrize("code", RESERVED_CODES.values())
def test_a_built_in_code_comes_back_as_its_member(code):
    stored = MsgspecCodec().encode_error(TaskError(code))
    assert giving(int).decode_result(stored).err_value.error_code is code
    assert MsgspecCodec().decode_untyped(stored).err_value.error_code is code


def test_a_value_of_another_type_is_a_mismatch():
    with pytest.raises(MismatchError, match=r"^the result: Expected `int`, got `str`$"):
        giving(int).encode_result(TaskResult(ok="1"))


def test_a_value_without_a_wire_form_is_unfit():
    with pytest.raises(UnfitValueError, match="the result cannot travel: object") as caught:
        giving(int).encode_result(TaskResult(ok=object()))
    assert not isinstance(caught.value, MismatchError)


def test_an_error_that_is_no_task_error_is_a_mismatch():
    wrong: Any = "just a text"
    with pytest.raises(MismatchError, match="the error: not a TaskError"):
        giving(int).encode_result(TaskResult(err=wrong))


def test_a_returned_error_keeps_its_code_whatever_its_traceback_holds():
    error = TaskError("X", "why", [1], ExceptionInfo("E", "a\0b", "\udcff"))
    stored = giving(int).encode_result(failed(error))
    expected = TaskError("X", "why", [1], ExceptionInfo("E", "a\ufffdb", "\ufffd"))
    assert giving(int).decode_result(stored) == failed(expected)


@pytest.mark.parametrize(
    "payload",
    [b"", b"{}", b"[]", b'{"ok":1,"err":{"error_code":"X"}}', b'{"ok":"1"}', b'{"err":1}'],
)
def test_bytes_that_hold_no_result_are_refused(payload):
    with pytest.raises(UnfitValueError):
        giving(int).decode_result(payload)


def test_an_untyped_result_is_plain_json():
    stored = giving(Line).encode_result(TaskResult(ok=Line("a", 1.5)))
    expected = TaskResult(ok={"article": "a", "price": 1.5})
    assert MsgspecCodec().decode_untyped(stored) == expected


def test_an_error_that_can_travel_is_encoded_as_it_is():
    stored = MsgspecCodec().encode_error(FAILURE)
    assert MsgspecCodec().decode_untyped(stored) == failed(FAILURE)


anything = st.one_of(
    st.none(),
    st.text(),
    st.floats(),
    st.decimals(),
    st.binary(),
    st.builds(object),
    st.complex_numbers(),
)


@given(
    code=st.text(min_size=1),
    message=anything,
    data=st.recursive(anything, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    exception=st.none() | st.builds(ExceptionInfo, st.text(), st.text(), st.text()),
)
def test_encoding_an_error_never_fails(code, message, data, exception):
    codec = MsgspecCodec()
    stored = codec.encode_error(TaskError(code, message, data, exception))
    assert codec.decode_untyped(stored).is_err()
    assert b"\\u0000" not in stored.replace(b"\\\\", b"")


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


def test_an_error_with_a_mute_code_is_still_encoded():
    code: Any = Mute()
    stored = MsgspecCodec().encode_error(TaskError(str.__new__(str, "X"), code))
    assert MsgspecCodec().decode_untyped(stored).err_value.message == (
        "<no text: str() raised RuntimeError>"
    )


@pytest.mark.parametrize("data", [object(), float("nan"), {"a": "\0"}, [object()]])
def test_data_that_cannot_travel_leaves_a_note(data):
    stored = MsgspecCodec().encode_error(TaskError("X", "why", data))
    error = MsgspecCodec().decode_untyped(stored).err_value
    assert error == TaskError("X", "why", {"unserializable": type(data).__qualname__})


def test_illegible_characters_of_an_error_are_replaced():
    stored = MsgspecCodec().encode_error(TaskError("X\0", "a\0b\ud800"))
    assert MsgspecCodec().decode_untyped(stored) == failed(TaskError("X\ufffd", "a\ufffdb\ufffd"))


def test_a_failure_handler_is_called_with_the_id_and_the_error():
    codec = MsgspecCodec()
    handler = taking(task_id=str, error=TaskError)
    payload = codec.encode_failure_call(TASK, codec.encode_error(FAILURE))
    assert handler.decode_call(payload) == {"task_id": str(TASK), "error": FAILURE}


def test_a_failure_handler_gets_built_in_codes_as_members():
    codec = MsgspecCodec()
    stored = codec.encode_error(TaskError(OperationalErrorCode.WORKER_CRASHED))
    handler = taking(task_id=UUID, error=TaskError)
    arrived = handler.decode_call(codec.encode_failure_call(TASK, stored))
    assert arrived["error"].error_code is OperationalErrorCode.WORKER_CRASHED
    assert arrived["task_id"] == TASK


def test_the_data_of_a_failure_is_passed_on_uninterpreted():
    stored = b'{"err":{"error_code":"X","data":{"n":1.0000,"big":1e5}}}'
    payload = MsgspecCodec().encode_failure_call(TASK, stored)
    assert b'{"n":1.0000,"big":1e5}' in payload
    assert json.loads(payload)["task_id"] == str(TASK)


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"ok":1}', b"[]", b'{"err":'])
def test_only_a_failed_result_has_a_failure_call(payload):
    with pytest.raises(UnfitValueError, match="not a failed result"):
        MsgspecCodec().encode_failure_call(TASK, payload)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (TaskError, FAILURE),
        (TaskError | None, None),
        (list[TaskError], [FAILURE, TaskError("X")]),
        (dict[str, TaskError | None], {"a": FAILURE, "b": None}),
        (tuple[TaskError, int], (FAILURE, 1)),
    ],
)
def test_an_error_may_be_an_argument(annotation, value):
    codec = taking(x=annotation)
    assert codec.decode_call(codec.encode_call((value,), {})) == {"x": value}
