"""Queues: how full they are, and which of them stand still."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.clock import Clock
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.queue import QueueDepth
from horsies.domain.worker import Presence, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """A queue, and the workers that serve it now."""

    depth: QueueDepth
    served_by: Sequence[Worker]

    @property
    def caps(self) -> frozenset[int | None]:
        """What its workers were configured with: more than one where they disagree."""
        return frozenset(worker.caps.get(self.depth.name) for worker in self.served_by)

    @property
    def is_stopped(self) -> bool:
        """By the configuration of all that serve it, which no command can lift."""
        return bool(self.served_by) and all(cap == 0 for cap in self.caps)


@dataclass(frozen=True, slots=True)
class ControlQueues:
    unit_of_work: UnitOfWork
    clock: Clock

    async def __call__(
        self, configured: Iterable[str] = ()
    ) -> tuple[datetime, Sequence[QueueState]]:
        """Every queue that has live tasks, is paused, or is served by somebody; and as of when."""
        async with self.unit_of_work() as tx:
            depths = {depth.name: depth for depth in await tx.queues.all()}
            workers = await tx.workers.all()
            now = self.clock.now()
        here = [worker for worker in workers if worker.presence(now) is Presence.HERE]
        names = {*configured, *depths, *(queue for worker in here for queue in worker.queues)}
        return now, [
            QueueState(
                depth=depths.get(name) or QueueDepth(name=name),
                served_by=[worker for worker in here if name in worker.queues],
            )
            for name in sorted(names)
        ]

    @redone_after_conflicts
    async def pause(self, queue: str) -> int:
        """What runs goes on; what was only held goes back, and its number is given."""
        async with self.unit_of_work() as tx:
            await tx.queues.pause(queue)
            return await tx.tasks.release(await tx.queues.claimed(queue))

    @redone_after_conflicts
    async def resume(self, queue: str) -> bool:
        """Whether it was paused. A configured `max_concurrency` of 0 is not lifted by this."""
        async with self.unit_of_work() as tx:
            return await tx.queues.resume(queue)
