"""Who waits for which task, on any thread and any event loop."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from threading import RLock

from horsies.domain.ids import TaskId


class Watch:
    """An event that belongs to the loop that waits for it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def ring(self) -> None:
        with suppress(RuntimeError):  # the waiter's loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, timeout_seconds: float | None) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class Watches:
    def __init__(self) -> None:
        self._lock = RLock()  # a watch may be let go by the garbage collector, anywhere
        self._watches: defaultdict[TaskId, set[Watch]] = defaultdict(set)

    @contextmanager
    def watch(self, ids: Collection[TaskId]) -> Generator[Watch]:
        watch, watched = Watch(), frozenset(ids)
        with self._lock:
            for task_id in watched:
                self._watches[task_id].add(watch)
        try:
            yield watch
        finally:
            with self._lock:
                for task_id in watched:
                    self._unwatch(task_id, watch)

    def watched(self) -> list[TaskId]:
        with self._lock:
            return list(self._watches)

    def announce(self, ids: Collection[TaskId]) -> None:
        """Ring those who wait for one of these, once each."""
        watches: set[Watch] = set()
        with self._lock:
            for task_id in ids:
                watches.update(self._watches.get(task_id, ()))
        for watch in watches:
            watch.ring()

    def _unwatch(self, task_id: TaskId, watch: Watch) -> None:
        watches = self._watches[task_id]
        watches.discard(watch)
        if not watches:
            del self._watches[task_id]
