"""What worker, nursery and children say to each other.

Payloads and results are bytes that nobody but the child reads. A run of a task is known by its
*handle*, a number that grows; a child by the number of its *birth*.
"""

from struct import Struct
from typing import TypeAlias

import msgspec


class Message(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A base that says how all of them are written."""


class Order(Message, frozen=True):
    """One run. Of a `timed` one the worker wants to hear when it begins."""

    handle: int
    key: bytes
    epoch: int
    name: str
    queue: str
    attempt: int
    payload: bytes
    timed: bool = False


class Run(Message, frozen=True):
    """One after the other, unless they are async."""

    orders: list[Order]


class Interrupt(Message, frozen=True):
    """End this async run."""

    handle: int


class Stop(Message, frozen=True):
    """Leave when nothing runs any more."""


ToChild: TypeAlias = Run | Interrupt | Stop


class Ready(Message, frozen=True):
    """The app is loaded."""


class Broken(Message, frozen=True):
    """The app could not be loaded; the report is for people."""

    report: str


class Begun(Message, frozen=True):
    """The next line is the user's."""

    handle: int


class Done(Message, frozen=True, tag=1):
    """A run that has succeeded, the seconds it took, and its result."""

    handle: int
    seconds: float
    result: bytes


class Ended(Message, frozen=True, tag=2):
    """`kind` and `code` are the outcome, `result` what the task has made."""

    handle: int
    seconds: float
    kind: str
    code: str = ""
    retryable: bool = False
    result: bytes | None = None
    detail: str | None = None


class Skipped(Message, frozen=True, tag=3):
    """Revoked before it was begun."""

    handle: int


Record: TypeAlias = Done | Ended | Skipped


class Results(Message, frozen=True):
    """What has come of runs, in their order."""

    records: list[Record]


class Heard(Message, frozen=True):
    """An async run was asked to end: the loop is alive."""

    handle: int


class Progressed(Message, frozen=True):
    handle: int
    fraction: float
    note: str | None


FromChild: TypeAlias = Ready | Broken | Begun | Results | Heard | Progressed


class Bear(Message, frozen=True):
    """Make a child; its socket and its page come along as file descriptors."""

    birth: int
    setup: bytes


class Signal(Message, frozen=True):
    """Send a signal to a child that still lives."""

    birth: int
    number: int


ToNursery: TypeAlias = Bear | Signal


class Born(Message, frozen=True):
    birth: int
    pid: int


class Died(Message, frozen=True):
    """`status` is the exit code, or the number of a signal with a minus."""

    birth: int
    status: int
    cpu_seconds: float
    peak_memory_bytes: int


FromNursery: TypeAlias = Born | Died

encode = msgspec.msgpack.Encoder().encode
to_child = msgspec.msgpack.Decoder(ToChild).decode
from_child = msgspec.msgpack.Decoder(FromChild).decode
to_nursery = msgspec.msgpack.Decoder(ToNursery).decode
from_nursery = msgspec.msgpack.Decoder(FromNursery).decode

_RESULTS = encode(Results([])).removesuffix(b"\x90")
_MANY = Struct(">BI")  # an array of up to 2³² elements, in msgpack's words


def results(count: int, records: bytes) -> bytes:
    """`Results` of records that are encoded already, one behind the other."""
    return _RESULTS + _MANY.pack(0xDD, count) + records
