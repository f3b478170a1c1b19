"""When the next delayed task of a worker's queues is due."""

import asyncio
from datetime import datetime, timedelta

from horsies.application.ports.clock import Clock
from horsies.application.ports.unit_of_work import UnitOfWork

REST_SECONDS = 0.25
"""A worker that never rests looks this often."""


class DueTime:
    """Looked up when the worker rests, or now and then, and again when it may have changed."""

    def __init__(self, unit_of_work: UnitOfWork, clock: Clock, queues: list[str]) -> None:
        self._unit_of_work = unit_of_work
        self._clock = clock
        self._queues = queues
        self._known = False
        self._at: datetime | None = None
        self._looked_at = -REST_SECONDS

    def forget(self) -> None:
        self._known = False
        self._at = None

    def snooze(self) -> None:
        """What is due cannot be had just now: somebody holds it."""
        self._known = True
        self._at = self._clock.now() + timedelta(seconds=REST_SECONDS)

    def is_over(self) -> bool:
        return self._at is not None and self._at <= self._clock.now()

    async def look_now_and_then(self) -> None:
        if asyncio.get_running_loop().time() - self._looked_at >= REST_SECONDS:
            await self.look()

    async def look(self) -> None:
        if self._known:
            return
        self._known = True  # whoever forgets it meanwhile is heard
        try:
            at = await self._ask()
        except BaseException:
            self._known = False
            raise
        self._looked_at = asyncio.get_running_loop().time()
        if self._known:
            self._at = at

    async def _ask(self) -> datetime | None:
        async with self._unit_of_work() as tx:
            return await tx.tasks.next_due(self._queues)

    @property
    def seconds_left(self) -> float:
        if self._at is None:
            return float("inf")
        return max(0.0, (self._at - self._clock.now()).total_seconds())
