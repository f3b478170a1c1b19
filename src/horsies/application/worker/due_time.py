"""When the next delayed task of a worker's queues is due."""

from datetime import datetime

from horsies.application.ports.clock import Clock
from horsies.application.ports.unit_of_work import UnitOfWork


class DueTime:
    """Looked up when the worker rests, and again when it may have changed."""

    def __init__(self, unit_of_work: UnitOfWork, clock: Clock, queues: list[str]) -> None:
        self._unit_of_work = unit_of_work
        self._clock = clock
        self._queues = queues
        self._known = False
        self._at: datetime | None = None

    def forget(self) -> None:
        self._known = False

    def is_over(self) -> bool:
        return self._at is not None and self._at <= self._clock.now()

    async def look(self) -> None:
        if not self._known:
            self._known = True
            async with self._unit_of_work() as tx:
                self._at = await tx.tasks.next_due(self._queues)

    @property
    def seconds_left(self) -> float:
        if self._at is None:
            return float("inf")
        return max(0.0, (self._at - self._clock.now()).total_seconds())
