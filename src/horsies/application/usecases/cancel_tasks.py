"""Cancelling: at once before the start, by request after it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.cancellation import CancelAnswer
from horsies.domain.ids import TaskId


@dataclass(frozen=True, slots=True)
class CancelTasks:
    unit_of_work: UnitOfWork

    @redone_after_conflicts
    async def __call__(self, ids: Collection[TaskId]) -> Mapping[TaskId, CancelAnswer]:
        async with self.unit_of_work() as tx:
            return await tx.tasks.cancel(ids)
