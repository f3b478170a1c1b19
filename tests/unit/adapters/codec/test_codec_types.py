"""Which annotations are accepted, and what is said about the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NewType, Optional, TypeVar

import msgspec
import pytest
from tests.unit.adapters.codec.codec_samples import Cat, Circle, Dog, Line, Order, Square, Tree

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.domain.result import TaskError, TaskResult

T = TypeVar("T")


class Ordinary:
    pass


@dataclass
class Holder:
    inner: list[Ordinary]


@dataclass
class Undecided:
    pet: Cat | Dog


@dataclass
class Unfinished:
    part: "Undefined"  # noqa: F821 - that is the point


@dataclass
class Box(Generic[T]):
    content: T


class Mixed(Enum):
    ONE = 1
    TWO = "two"


@pytest.mark.parametrize(
    "annotation",
    [
        TaskError,
        TaskError | None,
        Optional[TaskError],  # noqa: UP045 - both spellings
        list[TaskError],
        Tree,
        Sequence[int],
        Mapping[str, Order],
        Annotated[int, msgspec.Meta(ge=1)],
        dict[Annotated[str, msgspec.Meta(title="key")], int],
        NewType("UserId", int),
        Box,
        Box[int],
        list[Cat],
        dict[str, Cat],
        Cat | None,
        Circle | Square | None,
        int | str | None,
        dict,
        list,
    ],
)
def test_a_type_that_travels_has_nothing_to_explain(annotation):
    assert MsgspecCodec().why_not(annotation) is None


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Ordinary, "Ordinary cannot travel: Ordinary is none of the types"),
        (list[Ordinary], "Ordinary is none of the types that travel; make it a dataclass"),
        (Holder, "Holder cannot travel: in its field 'inner', Ordinary is none"),
        (Callable[[int], int], "Callable is none of the types"),
        (Iterable[int], "Iterable is none of the types"),
        (Iterator[int], "Iterator is none of the types"),
        (object, "object is none of the types"),
        (type, "type is none of the types"),
        (complex, "complex is none of the types"),
        (TaskResult[int, TaskError], "TaskResult"),
        (T, "type variable without a value"),
        (list[T], "type variable without a value"),
        (Box[T], "type variable without a value"),
        (Line | Tree, "use Structs with tags, or a discriminated union inside a pydantic model"),
        (Cat | Dog, "use Structs with tags, or a discriminated union inside a pydantic model"),
        (int | Cat, "use Structs with tags"),
        (Undecided, "use Structs with tags"),
        (str | datetime, "its members look alike in JSON"),
        (date | datetime, "its members look alike in JSON"),
        (list[int] | set[int], "its members look alike in JSON"),
        (Unfinished, "name 'Undefined' is not defined"),
        (Mixed, "Enums must contain either all str or all int values"),
        (Literal[b"x"], "Literal may only contain"),
        ("int", "not supported"),
        (dict[tuple[int, int], str], "the keys of a JSON object are texts"),
        (dict[bool, str], "the keys of a JSON object are texts"),
        (dict[int | str, str], "the keys of a JSON object are texts"),
        (dict[Cat, str], "the keys of a JSON object are texts"),
        (msgspec.Raw, "bytes of unknown meaning"),
    ],
)
def test_a_type_that_cannot_travel_is_told_why(annotation, reason):
    sentence = MsgspecCodec().why_not(annotation)
    assert sentence is not None
    assert reason in sentence
    assert "\n" not in sentence


def test_a_type_hidden_in_a_recursive_type_is_found():
    @dataclass
    class Knot:
        back: "Knot | None"
        odd: Ordinary

    Knot.__annotations__["back"] = Optional[Knot]  # noqa: UP045 - a local class cannot name itself
    assert "in its field 'odd', Ordinary" in str(MsgspecCodec().why_not(Knot))


def test_any_is_plain_json():
    assert MsgspecCodec().why_not(Any) is None
