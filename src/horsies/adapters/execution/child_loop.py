"""What a child does: one sync task after the other, or several async ones at a time."""

import asyncio
import resource
import signal
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import TypeAlias

from horsies.adapters.execution import wire
from horsies.adapters.execution.frames import Unframed, frame
from horsies.adapters.execution.page import Page
from horsies.application.ports.performer import Job, Performed, Performer
from horsies.domain.errors import TaskInterrupted
from horsies.domain.ids import TaskId
from horsies.domain.outcome import Errored, Succeeded, Unresolved
from horsies.domain.task import Claim

INTERRUPTED = "interrupted"
_CHUNK = 1 << 18

_Running: TypeAlias = dict[int, asyncio.Task[None]]


class ChildLine:
    """The child's end: it waits for messages, and is heard even if it dies right after."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._unframed = Unframed()
        self._unread: list[wire.ToChild] = []
        self._unsent = bytearray()
        self._sending = threading.Lock()

    def receive(self) -> wire.ToChild | None:
        """The next message; None when the worker is gone."""
        while not self._unread:
            if not self.read():
                return None
        return self._unread.pop(0)

    def read(self) -> bool:
        data = self._line.recv(_CHUNK)
        self._unread += [wire.to_child(message) for message in self._unframed.feed(data)]
        return bool(data)

    def take(self) -> list[wire.ToChild]:
        unread, self._unread = self._unread, []
        return unread

    def put_off(self, message: wire.FromChild) -> None:
        """It is sent with the next one."""
        self._unsent += frame(wire.encode(message))

    def send(self, message: wire.FromChild) -> None:
        with self._sending:
            self.put_off(message)
            self._flush()

    def flush(self) -> None:
        with self._sending:
            self._flush()

    def _flush(self) -> None:
        if self._unsent:
            data, self._unsent = self._unsent, bytearray()
            self._line.sendall(data)

    def fileno(self) -> int:
        return self._line.fileno()


@dataclass(slots=True)
class Supervised:
    """A run as the user's code may see it from inside."""

    loop: "ChildLoop"
    handle: int

    def begin(self) -> None:
        self.loop.begin(self.handle)

    def progress(self, fraction: float, note: str | None) -> None:
        self.loop.line.send(wire.Progressed(self.handle, fraction, note))

    def is_cancelled(self) -> bool:
        return self.loop.page.is_interrupted(self.handle)


class ChildLoop:
    def __init__(self, line: ChildLine, page: Page, performer: Performer) -> None:
        self.line = line
        self.page = page
        self._performer = performer
        self._interruptible: int | None = None

    def serve(self) -> None:
        """Until the worker says so, or is gone."""
        signal.signal(signal.SIGUSR1, self._interrupt)
        self.line.send(wire.Ready())
        with asyncio.Runner() as runner:
            while (message := self.line.receive()) is not None:
                if isinstance(message, wire.Stop):
                    return
                if isinstance(message, wire.Run):
                    self._run(message.orders, runner)

    def begin(self, handle: int) -> None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.page.note_cpu(usage.ru_utime + usage.ru_stime)
        self.line.send(wire.Begun(handle))
        self._interruptible = handle

    def _run(self, orders: list[wire.Order], runner: asyncio.Runner) -> None:
        if self._performer.is_async(orders[0].name):
            runner.run(self._run_async(orders))
            return
        for order in orders:
            if self.page.is_revoked(order.handle):
                self.line.put_off(wire.Skipped(order.handle))
            else:
                self.line.put_off(self._run_one(order))
        self.line.flush()

    def _run_one(self, order: wire.Order) -> wire.Ended:
        performed = None
        with suppress(TaskInterrupted):  # a result that was there before it came stands
            try:
                performed = self._performer.run(_job(order), Supervised(self, order.handle))
            finally:
                self._interruptible = None
        return _ended(order.handle, performed)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """A signal that comes too late finds another handle, or none."""
        del number, frame
        handle = self._interruptible
        if handle is not None and self.page.is_interrupted(handle):
            self._interruptible = None
            raise TaskInterrupted

    async def _run_async(self, orders: list[wire.Order]) -> None:
        """Until nothing runs any more; what comes in meanwhile joins in."""
        running: _Running = {}
        change = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self.line.fileno(), self._on_readable, running, change)
        try:
            self._start(orders, running, change)
            while running:
                await change.wait()
                change.clear()
        finally:
            loop.remove_reader(self.line.fileno())

    def _on_readable(self, running: _Running, change: asyncio.Event) -> None:
        if not self.line.read():
            raise SystemExit(1)  # the worker is gone
        for message in self.line.take():
            match message:
                case wire.Run(orders):
                    self._start(orders, running, change)
                case wire.Interrupt(handle):
                    self.line.send(wire.Heard(handle))
                    if handle in running:
                        running[handle].cancel()
                case wire.Stop():
                    return  # it is only sent to who runs nothing

    def _start(self, orders: list[wire.Order], running: _Running, change: asyncio.Event) -> None:
        for order in orders:
            running[order.handle] = asyncio.create_task(self._run_one_async(order))
            running[order.handle].add_done_callback(
                lambda _, handle=order.handle: (running.pop(handle), change.set())
            )

    async def _run_one_async(self, order: wire.Order) -> None:
        performed = None
        with suppress(TaskInterrupted, asyncio.CancelledError):
            supervised = Supervised(self, order.handle)
            performed = await self._performer.run_async(_job(order), supervised)
        self.line.send(_ended(order.handle, performed))


def _job(order: wire.Order) -> Job:
    claim = Claim(TaskId(order.task_id), order.epoch)
    return Job(claim, order.name, order.queue, order.attempt, order.payload)


def _ended(handle: int, performed: Performed | None) -> wire.Ended:
    if performed is None:
        return wire.Ended(handle, INTERRUPTED)
    match performed.outcome:
        case Succeeded():
            kind, code, retryable = "succeeded", "", False
        case Errored(code, retryable):
            kind = "errored"
        case Unresolved(code):
            kind, retryable = "unresolved", False
        case outcome:
            raise TypeError(f"no run ends as {outcome!r} by itself")
    return wire.Ended(handle, kind, code, retryable, performed.result, performed.detail)
