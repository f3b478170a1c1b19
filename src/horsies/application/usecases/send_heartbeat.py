"""A worker's sign of life, for itself and for all it holds, in one step."""

from dataclasses import dataclass
from datetime import timedelta

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.worker import Pulse, PulseAnswer


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    unit_of_work: UnitOfWork
    lease: timedelta

    @redone_after_conflicts
    async def __call__(self, pulse: Pulse) -> PulseAnswer:
        async with self.unit_of_work() as tx:
            return await tx.workers.beat(pulse, self.lease)
