"""What is sent is what arrives, for every kind of type."""

from collections.abc import Callable
from dataclasses import make_dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Optional, TypedDict
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.adapters.codec.codec_samples import (
    Cat,
    Circle,
    Colour,
    Dog,
    Home,
    Level,
    Line,
    Options,
    Order,
    Parcel,
    Point,
    Square,
    Tree,
    Unit,
    giving,
    taking,
)

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.domain.result import TaskResult


class Kind(NamedTuple):
    annotation: Any
    values: st.SearchStrategy[Any]


zones = st.none() | st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
floats = st.floats(allow_nan=False, allow_infinity=False)
lines = st.builds(Line, texts, floats)
pets = st.builds(Cat, lives=st.integers()) | st.builds(Dog, name=texts)
homes = st.builds(Home, pet=pets, since=st.none() | st.datetimes())
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)

KEYS = [
    Kind(str, texts),
    Kind(int, st.integers()),
    Kind(float, floats),
    Kind(bytes, st.binary()),
    Kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    Kind(datetime, st.datetimes(timezones=zones)),
    Kind(date, st.dates()),
    Kind(time, st.times(timezones=zones)),
    Kind(timedelta, st.timedeltas()),
    Kind(UUID, st.uuids()),
    Kind(Colour, st.sampled_from(Colour)),
    Kind(Level, st.sampled_from(Level)),
    Kind(Unit, st.sampled_from(Unit)),
    Kind(Literal["a", 1], st.sampled_from(["a", 1])),
]

LEAVES = [
    *KEYS,
    Kind(bool, st.booleans()),
    Kind(None, st.none()),
    Kind(bytearray, st.binary().map(bytearray)),
    Kind(Any, plain_json),
    Kind(int | str, st.integers() | texts),
    Kind(Line, lines),
    Kind(Order, st.builds(Order, st.lists(lines), st.none() | texts)),
    Kind(Tree, st.builds(Tree, st.integers(), st.lists(st.builds(Tree, st.integers())))),
    Kind(Point, st.builds(Point, st.integers(), st.integers())),
    Kind(Options, st.fixed_dictionaries({"depth": st.integers()}, optional={"title": texts})),
    Kind(Circle | Square, st.builds(Circle, floats) | st.builds(Square, floats)),
    Kind(Home, homes),
    Kind(Parcel, st.builds(Parcel, homes, floats)),
]


def record(make: Callable[[Any], Any]) -> Callable[[Kind], Kind]:
    """A class with one field of the given kind."""

    def of(kind: Kind) -> Kind:
        record_class = make(kind.annotation)
        return Kind(record_class, kind.values.map(lambda value: record_class(field=value)))

    return of


def struct(kind: Any) -> Any:
    return msgspec.defstruct("S", [("field", kind)])


def tuple_of(pair: tuple[Kind, Kind]) -> Kind:
    first, second = pair
    values = st.tuples(first.values, second.values)
    return Kind(tuple[first.annotation, second.annotation], values)


def dict_of(pair: tuple[Kind, Kind]) -> Kind:
    key, item = pair
    values = st.dictionaries(key.values, item.values, max_size=3)
    return Kind(dict[key.annotation, item.annotation], values)


def larger(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    keys = st.sampled_from(KEYS)
    return st.one_of(
        inner.map(lambda k: Kind(list[k.annotation], st.lists(k.values, max_size=3))),
        inner.map(lambda k: Kind(Optional[k.annotation], st.none() | k.values)),  # noqa: UP045 - built at run time
        keys.map(lambda k: Kind(set[k.annotation], st.sets(k.values, max_size=3))),
        keys.map(lambda k: Kind(frozenset[k.annotation], st.frozensets(k.values, max_size=3))),
        st.tuples(inner, inner).map(tuple_of),
        st.tuples(keys, inner).map(dict_of),
        inner.map(record(lambda kind: make_dataclass("D", [("field", kind)]))),
        inner.map(record(struct)),
        inner.map(record(lambda kind: NamedTuple("N", [("field", kind)]))),
        inner.map(record(lambda kind: TypedDict("T", {"field": kind}))),
    )


kinds = st.recursive(st.sampled_from(LEAVES), larger, max_leaves=4)
samples = kinds.flatmap(lambda kind: st.tuples(st.just(kind.annotation), kind.values))


@given(samples)
def test_an_argument_arrives_as_it_was_sent(sample):
    annotation, value = sample
    codec = taking(value=annotation)
    arrived = codec.decode_call(codec.encode_call((value,), {}))["value"]
    assert arrived == value
    assert type(arrived) is type(value)


@given(samples)
def test_a_result_arrives_as_it_was_returned(sample):
    annotation, value = sample
    codec = giving(annotation)
    assert codec.decode_result(codec.encode_result(TaskResult(ok=value))) == TaskResult(ok=value)


@given(kinds)
def test_every_kind_above_can_travel(kind):
    assert MsgspecCodec().why_not(kind.annotation) is None


@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: str(kind.annotation))
def test_none_stands_for_an_absent_value_of_any_type(kind):
    codec = taking(value=kind.annotation | None if kind.annotation else None)
    assert codec.decode_call(codec.encode_call((None,), {})) == {"value": None}


def test_a_naive_datetime_stays_naive():
    codec = taking(at=datetime)
    naive = datetime(2024, 2, 29, 12, 30, 15, 999999)  # noqa: DTZ001 - that is the point
    assert codec.decode_call(codec.encode_call((naive,), {})) == {"at": naive}


def test_a_struct_field_may_be_unset():
    class Patch(msgspec.Struct):
        title: str | msgspec.UnsetType = msgspec.UNSET

    codec = taking(patch=Patch)
    assert codec.decode_call(codec.encode_call((Patch(),), {})) == {"patch": Patch()}


class SafeText(str):
    __slots__ = ()


class NumpyLikeFloat(float):
    pass


class FrozenTime(datetime):
    pass


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, SafeText("<b>")),
        (list[str], [SafeText("x")]),
        (dict[str, int], {SafeText("k"): 1}),
        (float, NumpyLikeFloat(1.5)),
        (datetime, FrozenTime(2024, 1, 2, tzinfo=timezone.utc)),  # noqa: UP017 - a plain zone
    ],
)
def test_a_subclass_of_a_scalar_travels_as_its_base(annotation, value):
    codec = taking(value=annotation)
    assert codec.decode_call(codec.encode_call((value,), {})) == {"value": value}
