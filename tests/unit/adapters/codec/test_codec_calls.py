"""Arguments: how they are bound, what is written, and what survives a deploy."""

import json
from typing import Any

import pytest
from tests.unit.adapters.codec.codec_samples import Colour, Order, resize, taking

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import (
    Codec,
    MismatchError,
    Parameter,
    Signature,
    UnfitValueError,
)


def test_positional_and_keyword_arguments_mean_the_same():
    assert resize().encode_call((7, 300), {}) == resize().encode_call((7,), {"width": 300})


def test_only_the_arguments_given_are_written():
    assert json.loads(resize().encode_call((7,), {})) == {"image_id": 7}


def test_a_call_without_arguments_is_an_empty_object():
    assert taking().decode_call(taking().encode_call((), {})) == {}


@pytest.mark.parametrize(
    ("args", "kwargs", "sentence"),
    [
        ((), {}, r"argument 'image_id' is missing: the task takes \(image_id, width, format\)"),
        ((1,), {"heigth": 2}, "there is no parameter 'heigth'"),
        ((1,), {"image_id": 2}, "argument 'image_id' is given by position and by name"),
        ((1, 2, "png"), {}, "3 positional arguments are too many"),
    ],
)
def test_arguments_that_do_not_fit_the_signature_are_refused(args, kwargs, sentence):
    with pytest.raises(UnfitValueError, match=sentence):
        resize().encode_call(args, kwargs)


def test_a_text_for_a_number_is_refused_at_send():
    with pytest.raises(MismatchError, match=r"^argument 'width': Expected `int`, got `str`$"):
        resize().encode_call((1, "wide"), {})


def test_a_mismatch_deep_inside_names_its_path():
    order = {"lines": [{"article": "a", "price": 1}, {"article": "b", "price": "free"}]}
    with pytest.raises(MismatchError, match=r"^argument 'order', at \.lines\[1\]\.price: "):
        taking(order=Order).encode_call((order,), {})


def test_an_int_is_a_float():
    codec = taking(ratio=float)
    assert codec.decode_call(codec.encode_call((2,), {})) == {"ratio": 2.0}


@pytest.mark.parametrize(
    "name", ["self", "cls", "name", "type", "_", "__private", "error", "naïve", "args", "kwargs"]
)
def test_a_parameter_may_have_any_name(name):
    codec = taking(**{name: int})
    assert codec.decode_call(codec.encode_call((), {name: 1})) == {name: 1}


@pytest.mark.parametrize("payload", [b"", b"{", b'{"a": NaN}', b'{"a":"\xff"}', b'{"a":"\\ud800"}'])
def test_bytes_that_are_not_json_are_refused(payload):
    with pytest.raises(UnfitValueError, match="not valid JSON"):
        taking(a=Any).decode_call(payload)


@pytest.mark.parametrize("payload", [b"[]", b"null", b'"text"', b"1"])
def test_a_payload_that_is_no_object_is_refused(payload):
    with pytest.raises(UnfitValueError, match="not a JSON object"):
        resize().decode_call(payload)


def test_a_payload_without_a_required_argument_is_a_mismatch():
    with pytest.raises(MismatchError, match=r"^argument 'image_id' is missing$"):
        resize().decode_call(b'{"width": 1}')


def test_a_payload_of_another_type_is_a_mismatch():
    with pytest.raises(MismatchError, match="argument 'image_id': Expected `int`, got `str`"):
        resize().decode_call(b'{"image_id": "1"}')


def test_a_payload_nested_too_deeply_is_refused():
    with pytest.raises(UnfitValueError, match="nested too deeply"):
        taking(a=Any).decode_call(b'{"a":' + b"[" * 100_000)


def test_an_old_producer_can_call_a_new_worker_with_an_added_default_parameter():
    old = taking(image_id=int)
    assert resize().decode_call(old.encode_call((1,), {})) == {"image_id": 1}


def test_a_new_worker_ignores_an_optional_parameter_that_was_removed():
    new = taking(image_id=int)
    payload = resize().encode_call((1, 300), {"format": "gif"})
    assert new.decode_call(payload) == {"image_id": 1}


def test_a_dataclass_may_gain_a_default_field_and_lose_one():
    payload = b'{"order": {"lines": [], "was_once": true}}'
    assert taking(order=Order).decode_call(payload) == {"order": Order([])}


def test_a_fingerprint_does_not_depend_on_the_order_of_keys():
    codec: Codec = MsgspecCodec()
    one = codec.fingerprint("t", b'{"a": 1, "b": {"x": 1, "y": [2, 3]}}')
    assert one == codec.fingerprint("t", b'{"b":{"y":[2,3],"x":1},"a":1}')


@pytest.mark.parametrize(
    ("name", "payload"),
    [("u", b'{"a":[1,2]}'), ("t", b'{"a":[2,1]}'), ("t", b'{"a":[1,"2"]}'), ("t", b'{"b":[1,2]}')],
)
def test_a_fingerprint_tells_different_calls_apart(name, payload):
    codec = MsgspecCodec()
    assert codec.fingerprint("t", b'{"a":[1,2]}') != codec.fingerprint(name, payload)


def test_a_fingerprint_tells_large_integers_apart():
    codec = MsgspecCodec()
    payloads = [b'{"a":%d}' % (2**80 + offset) for offset in range(2)]
    assert codec.fingerprint("t", payloads[0]) != codec.fingerprint("t", payloads[1])


def test_a_fingerprint_of_no_json_is_refused():
    with pytest.raises(UnfitValueError, match="not valid JSON"):
        MsgspecCodec().fingerprint("t", b"{")


def test_a_set_is_written_in_order_so_that_equal_sets_are_equal_bytes():
    codec = taking(tags=set[str])
    tags = {f"tag-{n}" for n in range(50)}
    assert json.loads(codec.encode_call((tags,), {}))["tags"] == sorted(tags)


def test_a_set_that_cannot_be_sorted_travels_all_the_same():
    codec = taking(colours=set[Colour])
    assert codec.decode_call(codec.encode_call((set(Colour),), {})) == {"colours": set(Colour)}


def test_the_order_of_a_dict_is_kept():
    codec = taking(counts=dict[str, int])
    assert list(codec.decode_call(codec.encode_call(({"b": 1, "a": 2},), {}))["counts"]) == [
        "b",
        "a",
    ]


def test_a_signature_may_mix_required_and_keyword_only():
    parameters = [Parameter("a", int, required=True, keyword_only=True)]
    codec = MsgspecCodec().compile(Signature(parameters, None))
    with pytest.raises(UnfitValueError, match="1 positional arguments are too many"):
        codec.encode_call((1,), {})
