"""Who works, and who is to claim nothing for now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.clock import Clock
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.suspension import EVERYBODY, Suspensions
from horsies.domain.worker import Worker


@dataclass(frozen=True, slots=True)
class Roster:
    """All workers that are remembered, at one instant of the database's clock."""

    workers: Sequence[Worker]
    suspensions: Suspensions
    at: datetime

    def named(self, name: str) -> list[Worker]:
        return [worker for worker in self.workers if worker.name == name]


@dataclass(frozen=True, slots=True)
class ControlWorkers:
    """The table is the truth; whoever listens is told to look at it, the others see it soon."""

    unit_of_work: UnitOfWork
    clock: Clock

    async def __call__(self) -> Roster:
        async with self.unit_of_work() as tx:
            workers = await tx.workers.all()
            return Roster(workers, await tx.workers.suspensions(), self.clock.now())

    @redone_after_conflicts
    async def suspend(self, name: str = EVERYBODY) -> None:
        """Also whoever starts under that name later; without one, everybody."""
        async with self.unit_of_work() as tx:
            await tx.workers.suspend(name)

    @redone_after_conflicts
    async def resume(self, name: str) -> None:
        """It stays suspended where everybody is."""
        async with self.unit_of_work() as tx:
            await tx.workers.resume(name)

    @redone_after_conflicts
    async def resume_all(self) -> None:
        """Everybody, also those that were suspended one by one."""
        async with self.unit_of_work() as tx:
            await tx.workers.resume_all()
