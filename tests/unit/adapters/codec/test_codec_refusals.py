"""What cannot travel unharmed is refused where it is sent, and never quoted."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, Literal
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.adapters.codec.codec_samples import (
    Cat,
    Circle,
    Colour,
    Dog,
    Line,
    Order,
    Square,
    giving,
    taking,
)

from horsies.application.ports.codec import MismatchError, UnfitValueError
from horsies.domain.result import TaskError, TaskResult

NAN = float("nan")
FLAWS = {
    "NaN": NAN,
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "decimal NaN": Decimal("NaN"),
    "decimal sNaN": Decimal("-sNaN12"),
    "decimal infinity": Decimal("-Infinity"),
    "NUL": "a\0b",
    "high surrogate": "a\ud800",
    "low surrogate": "\udfff",
}
flaws = pytest.mark.parametrize("flaw", FLAWS.values(), ids=FLAWS.keys())


@flaws
def test_a_flawed_argument_is_refused_at_send(flaw):
    with pytest.raises(UnfitValueError, match=r"argument 'x': .* cannot travel"):
        taking(x=type(flaw)).encode_call((flaw,), {})


@flaws
def test_a_flawed_argument_is_refused_even_where_null_would_do(flaw):
    with pytest.raises(UnfitValueError):
        taking(x=type(flaw) | None).encode_call((flaw,), {})


@flaws
def test_a_flawed_key_is_refused(flaw):
    key = Decimal("NaN") if str(flaw) == "-sNaN12" else flaw  # a signalling NaN has no hash
    with pytest.raises(UnfitValueError, match="argument 'x', at "):
        taking(x=dict[type(key), int]).encode_call(({key: 1},), {})


@flaws
def test_a_flawed_result_is_refused(flaw):
    with pytest.raises(UnfitValueError, match="the result: "):
        giving(Any).encode_result(TaskResult(ok=flaw))


@flaws
def test_flawed_data_of_an_error_is_refused(flaw):
    with pytest.raises(UnfitValueError, match=r"the error, at \.data"):
        giving(Any).encode_result(TaskResult(err=TaskError("X", data={"deep": [flaw]})))


nests = st.recursive(
    st.sampled_from(list(FLAWS.values())),
    lambda inner: st.one_of(
        inner.map(lambda value: [None, value]),
        inner.map(lambda value: ("x", value)),
        inner.map(lambda value: {"key": value, "big": 2**70}),
        inner.map(lambda value: Order([], value)),
        inner.map(Circle),
        inner.map(lambda value: Cat.model_construct(lives=value)),
    ),
    max_leaves=1,
)


@given(nests)
def test_a_flaw_is_found_however_deep_it_lies(nest):
    with pytest.raises(UnfitValueError):
        taking(x=Any).encode_call((nest,), {})


def test_the_place_of_a_flaw_is_named():
    order = Order([Line("a", 1.0), Line("b", NAN)])
    with pytest.raises(UnfitValueError) as caught:
        taking(order=Order).encode_call((order,), {})
    expected = "argument 'order', at .lines[1].price: NaN or infinity cannot travel"
    assert str(caught.value) == expected


class NumpyLikeFloat(float):
    pass


def test_nan_of_a_subclass_is_refused():
    with pytest.raises(UnfitValueError, match="argument 'x': NaN or infinity"):
        taking(x=float | None).encode_call((NumpyLikeFloat("nan"),), {})


@pytest.mark.parametrize(
    "text", ["null", "NaN", "Infinity", "nan", "inf", r"\u0000", "12+01:00", "\\", "\u2028", "\x1f"]
)
def test_a_text_that_looks_like_a_flaw_is_not_one(text):
    codec = taking(x=dict[str, Any], at=datetime)
    given_values = {"x": {text: [text, None, text]}, "at": datetime(2024, 1, 1, tzinfo=UTC)}
    assert codec.decode_call(codec.encode_call((), given_values)) == given_values


@pytest.mark.parametrize("seconds", [1, -1])
def test_an_offset_with_seconds_is_refused_because_they_would_be_lost(seconds):
    zone = timezone(timedelta(hours=1, seconds=seconds))
    for moment in (datetime(1850, 1, 1, tzinfo=zone), time(12, tzinfo=zone)):
        with pytest.raises(UnfitValueError, match="UTC offset with seconds"):
            taking(at=type(moment)).encode_call((moment,), {})


def test_an_integer_of_any_size_travels():
    codec = taking(n=int)
    for number in (2**63, 2**64, -(2**63) - 1, 10**4000):
        assert codec.decode_call(codec.encode_call((number,), {})) == {"n": number}


def test_an_integer_beyond_pythons_own_limit_is_refused():
    with pytest.raises(UnfitValueError, match="argument 'n' cannot travel"):
        taking(n=int).encode_call((10**5000,), {})


def test_an_integer_too_large_for_a_float_parameter_is_refused():
    with pytest.raises(MismatchError, match="argument 'x': Number out of range"):
        taking(x=float).encode_call((10**400,), {})


@pytest.mark.parametrize("value", [object(), int, range(3), 1j, iter([]), {(1, 2): 3}, len])
def test_an_object_without_a_wire_form_is_refused(value):
    with pytest.raises(UnfitValueError, match="argument 'x' cannot travel: "):
        taking(y=int, x=Any).encode_call((1, value), {})


def test_a_value_that_contains_itself_is_refused():
    loop: list[Any] = ["\ud800"]
    loop.insert(0, loop)
    with pytest.raises(UnfitValueError, match="contains itself, or is nested too deeply"):
        taking(x=Any).encode_call((loop,), {})


@pytest.mark.parametrize("leaf", [1, None, "\0"])
def test_a_deep_value_travels_or_is_refused_but_never_breaks(leaf):
    codec = taking(x=Any, y=str)
    nest: Any = leaf
    for depth in range(1500):
        nest = [nest]
        try:
            codec.encode_call((nest, "a"), {})
        except UnfitValueError:
            assert leaf == "\0" or depth > 200


@pytest.mark.parametrize("value", [b"abc", datetime(2024, 1, 1, tzinfo=UTC), uuid4(), Decimal(1)])
@pytest.mark.parametrize(
    ("annotation", "wrap"),
    [
        (str, lambda value: value),
        (str | None, lambda value: value),
        (list[str], lambda value: [value]),
        (dict[str, int], lambda value: {value: 1}),
        (Line, lambda value: Line(value, 1.0)),
    ],
)
def test_a_value_is_never_sent_disguised_as_a_text(annotation, wrap, value):
    with pytest.raises(MismatchError, match="Expected `str"):
        taking(x=annotation).encode_call((wrap(value),), {})


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, True),
        (int, 1.0),
        (int, "1"),
        (str, 1),
        (bool, 1),
        (date, datetime(2024, 1, 1, tzinfo=UTC)),
        (dict[str, int], {1: 1}),
        (Literal["a"], "b"),
        (tuple[int, int], (1,)),
        (Circle | Square, {"type": "line"}),
        (None, 0),
    ],
)
def test_a_value_of_another_type_is_a_mismatch(annotation, value):
    with pytest.raises(MismatchError, match="argument 'x'"):
        taking(x=annotation).encode_call((value,), {})
    with pytest.raises(MismatchError, match="the result"):
        giving(annotation).encode_result(TaskResult(ok=value))


@dataclass
class Picky:
    word: str

    def __post_init__(self) -> None:
        if self.word == "wrong":
            raise ValueError(self.word)
        if self.word == "broken":
            raise KeyError(self.word)


@pytest.mark.parametrize(("word", "error"), [("wrong", "ValueError"), ("broken", "KeyError")])
def test_a_check_in_a_dataclass_is_a_mismatch_in_our_words(word, error):
    with pytest.raises(MismatchError, match=f"a check of .* type raised {error}$"):
        taking(x=Picky).decode_call(b'{"x":{"word":"%s"}}' % word.encode())


def test_a_half_made_object_is_refused():
    circle = Circle(1.0)
    del circle.radius
    with pytest.raises(UnfitValueError, match="argument 'x' cannot travel: AttributeError"):
        taking(x=Circle).encode_call((circle,), {})


SECRET = "hunter2 - at `$.x` hunter2"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, SECRET),
        (Colour, SECRET),
        (Literal["a"], SECRET),
        (Circle | Square, {"type": SECRET}),
        (dict[int, int], {SECRET: 1}),
        (dict[str, int], {SECRET: "x"}),
        (dict[str, float], {SECRET: NAN}),
        (Cat, {"lives": SECRET}),
        (Dog, {"name": {SECRET: SECRET}}),
        (Cat, SECRET),
        (str, SECRET + "\0"),
        (str, SECRET + "\ud800"),
        (list[int], [SECRET]),
        (Any, {SECRET: object()}),
        (datetime, SECRET),
        (TaskError, {"error_code": [SECRET]}),
    ],
)
def test_a_refusal_never_quotes_the_value(annotation, value):
    with pytest.raises(UnfitValueError) as caught:
        taking(x=annotation).encode_call((value,), {})
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


class Narrow(msgspec.Struct, forbid_unknown_fields=True):
    known: int = 0


class Talkative(tzinfo):
    def utcoffset(self, instant):  # noqa: ARG002 - the signature of a tzinfo
        raise ValueError("canary-7f3a")


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Narrow, {"canary-7f3a": 1}), (datetime, datetime(2026, 1, 1, tzinfo=Talkative()))],
    ids=["an unknown field", "an exception of the value's own"],
)
def test_a_refusal_quotes_neither_keys_nor_exceptions_of_values(kind, value):
    with pytest.raises(UnfitValueError) as refused:
        taking(x=kind).encode_call((value,), {})
    assert "canary-7f3a" not in str(refused.value)
