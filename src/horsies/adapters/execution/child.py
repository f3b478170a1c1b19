"""One child process as its worker sees it."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from horsies.adapters.execution import wire
from horsies.adapters.execution.nursery_line import NurseryLine
from horsies.adapters.execution.page import Page, make_page
from horsies.adapters.execution.stream import Stream
from horsies.application.ports.grant import Grant


class End(Enum):
    """Why a run was asked to end."""

    TIMEOUT = auto()
    CANCEL = auto()
    SHUTDOWN = auto()
    LOST = auto()


@dataclass(slots=True)
class Held:
    """A run that a child has been given."""

    handle: int
    grant: Grant
    is_async: bool
    asked_to_end: End | None = None
    is_ending: bool = False
    heard: bool = False
    timer: asyncio.TimerHandle | None = None

    def set_timer(self, seconds: float, act: Callable[[], None]) -> None:
        self.stop_timer()
        self.timer = asyncio.get_running_loop().call_later(seconds, act)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Use(Enum):
    """What a child is busy with: only tasks of one kind go together."""

    NOTHING = auto()
    LINE = auto()  # light sync tasks, one after the other
    ASYNC = auto()
    ALONE = auto()


@dataclass(slots=True)
class Child:
    """`leaving` takes nothing more and ends when it is empty; `replaced` has a successor already.

    `stuck` still runs what was settled without it. `head` is the run that was last seen to be
    under way while others waited behind it, and since when.
    """

    birth: int
    nursery: NurseryLine
    stream: Stream
    page: Page
    pid: int = 0
    ready: bool = False
    leaving: bool = False
    stuck: bool = False
    replaced: bool = False
    use: Use = Use.NOTHING
    runs: int = 0
    born_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    held: dict[int, Held] = field(default_factory=dict[int, Held])
    head: tuple[int, float] = (0, 0.0)

    @property
    def is_open(self) -> bool:
        return self.ready and not self.leaving

    @property
    def is_free(self) -> bool:
        return self.ready and not self.leaving and not self.held

    @property
    def present_use(self) -> Use:
        return self.use if self.held else Use.NOTHING

    @property
    def has_line(self) -> bool:
        """Whether a light task may stand in line here."""
        return self.is_open and self.present_use in {Use.NOTHING, Use.LINE}

    def async_room(self, concurrency: int) -> int:
        """Further async tasks it could take beside those that it runs."""
        if not self.is_open or self.present_use is not Use.ASYNC:
            return 0
        return max(0, concurrency - len(self.held))

    def has_begun(self, held: Held) -> bool:
        return self.page.begun >= held.handle

    def run(self, runs: Sequence[Held], use: Use) -> None:
        self.use = use
        self.held.update((held.handle, held) for held in runs)
        self.stream.send(wire.encode(wire.Run([_order(held) for held in runs])))

    def ask_to_end(self, held: Held) -> None:
        """An exception in the task: a sync one is reached by a signal, an async one by its loop."""
        self.page.interrupt(held.handle)
        if held.is_async:
            self.stream.send(wire.encode(wire.Interrupt(held.handle)))
        else:
            self.nursery.signal(self.birth, signal.SIGUSR1)

    def kill(self) -> None:
        self.leaving = True
        self.nursery.signal(self.birth, signal.SIGKILL)

    def leave(self) -> None:
        """Ended in good order as soon as it is empty."""
        self.leaving = True
        if not self.held:
            self.stream.send(wire.encode(wire.Stop()))

    def close(self) -> None:
        for held in self.held.values():
            held.stop_timer()
        self.stream.close()
        self.page.close()


def _order(held: Held) -> wire.Order:
    grant = held.grant
    return wire.Order(
        held.handle,
        grant.key,
        grant.epoch,
        grant.name,
        grant.queue,
        grant.attempt,
        grant.payload,
        grant.terms.timeout is not None,
    )


def bear(
    nursery: NurseryLine, birth: int, setup: bytes, on_message: Callable[[wire.FromChild], None]
) -> Child:
    here, there = socket.socketpair()
    descriptor = make_page()
    try:
        with there:
            nursery.bear(birth, setup, there, descriptor)
        page = Page(descriptor)
    finally:
        os.close(descriptor)
    stream = Stream(here, lambda data: on_message(wire.from_child(data)), lambda: None)
    return Child(birth, nursery, stream, page)
