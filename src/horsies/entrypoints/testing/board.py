"""Who is running what in a sandbox, and a bell for those who wait, on threads and loops alike."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from threading import Condition

from horsies.entrypoints.bridge import driven

_mine: ContextVar[frozenset[int]] = ContextVar("horsies_sandbox_runs", default=frozenset())
"""The runs that the asking code is itself a part of."""


class RunBoard:
    """The bell rings when a run ends, and when all that run are waiting: then nothing will."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._ids = count()
        self._running: set[int] = set()
        self._waiting: list[frozenset[int]] = []
        self._bells: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self.rings = 0

    @contextmanager
    def run(self) -> Generator[None]:
        """One run, from its first line until its result is written."""
        number = next(self._ids)
        token = _mine.set(_mine.get() | {number})
        with self._changed:
            self._running.add(number)
        try:
            yield
        finally:
            _mine.reset(token)
            with self._changed:
                self._running.discard(number)
                self._ring()

    def others_at_work(self) -> bool:
        with self._changed:
            return bool(self._at_work() - _mine.get())

    async def wait(self, seen: int, timeout_seconds: float | None) -> bool:
        """Until the bell has rung since it had rung `seen` times, or the time is up."""
        mine = _mine.get()
        with self._changed:
            self._waiting.append(mine)
            if not self._at_work():
                self._ring()
        try:
            if driven.get():
                return self._wait_here(seen, timeout_seconds)
            return await self._wait_on_loop(seen, timeout_seconds)
        finally:
            with self._changed:
                self._waiting.remove(mine)

    def _at_work(self) -> set[int]:
        return self._running.difference(*self._waiting)

    def _ring(self) -> None:
        self.rings += 1
        self._changed.notify_all()
        for loop, bell in self._bells:
            with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(bell.set)

    async def _wait_on_loop(self, seen: int, timeout_seconds: float | None) -> bool:
        bell = (asyncio.get_running_loop(), asyncio.Event())
        with self._changed:
            if self.rings != seen:
                return True
            self._bells.add(bell)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await bell[1].wait()
        except TimeoutError:
            return False
        finally:
            with self._changed:
                self._bells.discard(bell)

    def _wait_here(self, seen: int, timeout_seconds: float | None) -> bool:
        with suppress(RuntimeError):  # no loop on this thread, so nothing on it is held up
            asyncio.get_running_loop()
            return self.rings != seen
        with self._changed:
            return self._changed.wait_for(lambda: self.rings != seen, timeout_seconds)
