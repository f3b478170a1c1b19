"""Types and signatures that the laws of the codec are tried on."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import msgspec
from pydantic import BaseModel, Field

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import CallCodec, Parameter, Signature


def taking(**annotations: Any) -> CallCodec:
    """The codec of a task with these required parameters."""
    parameters = [Parameter(name, kind, required=True) for name, kind in annotations.items()]
    return MsgspecCodec().compile(Signature(parameters, None))


def giving(kind: Any) -> CallCodec:
    """The codec of a task with this result."""
    return MsgspecCodec().compile(Signature([], kind))


def resize() -> CallCodec:
    """`def resize(image_id: int, width: int = 800, *, format: str = "png")`."""
    parameters = [
        Parameter("image_id", int, required=True),
        Parameter("width", int, required=False),
        Parameter("format", str, required=False, keyword_only=True),
    ]
    return MsgspecCodec().compile(Signature(parameters, str))


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Unit(StrEnum):
    PIXEL = "px"
    POINT = "pt"


@dataclass(frozen=True)
class Line:
    article: str
    price: float


@dataclass
class Order:
    lines: list[Line]
    note: str | None = None


@dataclass
class Tree:
    value: int
    children: "list[Tree]" = field(default_factory=list)


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict):
    depth: int
    title: NotRequired[str]


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square"):
    side: float


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Home(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")
    since: datetime | None = None


@dataclass
class Parcel:
    home: Home
    weight: float
