"""What a child does: one sync task after the other, or several async ones at a time."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic, process_time
from types import FrameType
from typing import TypeAlias

from horsies.adapters.execution import wire
from horsies.adapters.execution.child_line import KEPT_SECONDS, ChildLine
from horsies.adapters.execution.page import Page
from horsies.adapters.execution.reporter import Reporter
from horsies.application.ports.performer import Job, Performed, Performer
from horsies.domain.errors import TaskInterrupted
from horsies.domain.outcome import Errored, Succeeded, Unresolved

INTERRUPTED = "interrupted"
STOPPED = (TaskInterrupted, KeyboardInterrupt, GeneratorExit)
"""What a task may raise that nobody catches on its way out: to the child it is an end as others."""


_Running: TypeAlias = dict[int, asyncio.Task[None]]


class _RevokedError(BaseException):
    """The worker took the run back just before its first line."""


@dataclass(slots=True)
class Supervised:
    """A run as the user's code may see it from inside."""

    loop: "ChildLoop"
    handle: int
    timed: bool

    def begin(self) -> None:
        self.loop.begin(self.handle, timed=self.timed)

    def progress(self, fraction: float, note: str | None) -> None:
        self.loop.reporter.tell(wire.Progressed(self.handle, fraction, note))

    def is_cancelled(self) -> bool:
        return self.loop.page.is_interrupted(self.handle)


class ChildLoop:
    def __init__(self, line: ChildLine, page: Page, performer: Performer) -> None:
        self.line = line
        self.page = page
        self._performer = performer
        self._interruptible: int | None = None
        self._flushing = False
        self.reporter = Reporter(line.send)

    def serve(self, runner: asyncio.Runner) -> None:
        """Until the worker says so, or is gone."""
        signal.signal(signal.SIGUSR1, self._interrupt)
        self.line.send(wire.Ready())
        while (message := self.line.receive()) is not None:
            if isinstance(message, wire.Stop):
                return
            if isinstance(message, wire.Run):
                self._run(message.orders, runner)

    def begin(self, handle: int, *, timed: bool) -> None:
        self.page.begin(handle, process_time())
        if self.page.is_revoked(handle):
            raise _RevokedError
        if timed:
            self.line.send(wire.Begun(handle))
        self._interruptible = handle

    def _run(self, orders: list[wire.Order], runner: asyncio.Runner) -> None:
        if self._performer.is_async(orders[0].name):
            runner.run(self._run_async(orders))
            return
        began = monotonic()
        for order in orders:
            record = self._run_one(order, began)
            ended = monotonic()
            self.line.record(record, ended)
            began = ended
        self.line.flush()

    def _run_one(self, order: wire.Order, began: float) -> wire.Record:
        if self.page.is_revoked(order.handle):
            return wire.Skipped(order.handle)
        performed = None
        try:
            with suppress(*STOPPED):  # a result that was there before it came stands
                try:
                    performed = self._performer.run(_job(order), self._supervised(order))
                finally:
                    self._interruptible = None
        except _RevokedError:
            return wire.Skipped(order.handle)
        return _record(order.handle, monotonic() - began, performed)

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
            self._follow(running, change)
            while running:
                await change.wait()
                change.clear()
        finally:
            loop.remove_reader(self.line.fileno())
            self.line.flush()

    def _on_readable(self, running: _Running, change: asyncio.Event) -> None:
        if not self.line.read():
            raise SystemExit(1)  # the worker is gone
        self._follow(running, change)

    def _follow(self, running: _Running, change: asyncio.Event) -> None:
        """What was read, also together with something else."""
        for message in self.line.take():
            match message:
                case wire.Run(orders) if self._performer.is_async(orders[0].name):
                    self._start(orders, running, change)
                case wire.Run():  # the worker has given up all that still runs here
                    self.line.put_back(message)
                case wire.Interrupt(handle):
                    self.line.send(wire.Heard(handle))
                    if handle in running:
                        running[handle].cancel()
                case wire.Stop():
                    self.line.put_back(message)

    def _start(self, orders: list[wire.Order], running: _Running, change: asyncio.Event) -> None:
        def ended(task: asyncio.Task[None], handle: int) -> None:
            del running[handle]
            if task.cancelled():  # before its first step
                self.line.record(wire.Skipped(handle), monotonic())
            self._flush_soon(others=bool(running))
            if not running:
                change.set()

        for order in orders:
            task = asyncio.create_task(self._run_one_async(order))
            running[order.handle] = task
            task.add_done_callback(partial(ended, handle=order.handle))

    async def _run_one_async(self, order: wire.Order) -> None:
        performed = None
        began = monotonic()
        record: wire.Record | None = None
        try:
            with suppress(*STOPPED, asyncio.CancelledError):
                performed = await self._performer.run_async(_job(order), self._supervised(order))
        except _RevokedError:
            record = wire.Skipped(order.handle)
        now = monotonic()
        self.line.record(record or _record(order.handle, now - began, performed), now)

    def _flush_soon(self, *, others: bool) -> None:
        """What ends at nearly the same time is sent together, as long as others may yet end."""
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_later(KEPT_SECONDS if others else 0, self._flush)

    def _flush(self) -> None:
        self._flushing = False
        self.line.flush()

    def _supervised(self, order: wire.Order) -> Supervised:
        return Supervised(self, order.handle, order.timed)


def _job(order: wire.Order) -> Job:
    return Job(order.key, order.epoch, order.name, order.queue, order.attempt, order.payload)


def _record(handle: int, seconds: float, performed: Performed | None) -> wire.Record:
    if performed is None:
        return wire.Ended(handle, seconds, INTERRUPTED)
    match performed.outcome:
        case Succeeded():
            if performed.result is not None:
                return wire.Done(handle, seconds, performed.result)
            kind, code, retryable = "succeeded", "", False
        case Errored(code, retryable):
            kind = "errored"
        case Unresolved(code):
            kind, retryable = "unresolved", False
        case outcome:
            raise TypeError(f"no run ends as {outcome!r} by itself")
    return wire.Ended(handle, seconds, kind, code, retryable, performed.result, performed.detail)
