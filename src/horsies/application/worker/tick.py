"""One durable step: settle what has ended, start what waited, claim what there is room for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from horsies.application.ports.executor import RunReport
from horsies.application.ports.unit_of_work import Transaction, UnitOfWork
from horsies.application.registry import TaskRegistry
from horsies.application.usecases.claim_tasks import ClaimTasks, release_tasks, start_tasks
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.domain.ids import WorkerId
from horsies.domain.queue import Room
from horsies.domain.task import Claim, Task
from horsies.domain.task_lifecycle import TaskStatus

PROMOTED_AT_ONCE = 1_000
"""Due tasks that enter the claimable ones in one step; the rest follows with the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one step is to do. `room` is for any task, `async_room` for async ones alone."""

    reports: Sequence[RunReport] = ()
    release: Collection[Claim] = ()
    start: Collection[Claim] = ()
    room: Room | None = None
    async_room: Room | None = None
    promote: bool = False
    unknown: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What came of it."""

    lost: Collection[Claim] = ()
    started: Sequence[Task] = ()
    not_started: Collection[Claim] = ()
    claimed: Sequence[Task] = field(default=())

    @property
    def runnable(self) -> list[Task]:
        return [*self.started, *(task for task in self.claimed if _runs(task))]

    @property
    def waiting(self) -> list[Task]:
        return [task for task in self.claimed if not _runs(task)]


@dataclass(frozen=True, slots=True)
class Tick:
    unit_of_work: UnitOfWork
    settle: SettleTasks
    claim: ClaimTasks
    registry: TaskRegistry
    worker: WorkerId

    async def __call__(self, asked: Asked) -> Got:
        async with self.unit_of_work() as tx:
            lost = await self.settle(tx, asked.reports)
            await release_tasks(tx, asked.release)
            started = await start_tasks(tx, asked.start) if asked.start else None
            if asked.promote:
                await tx.tasks.promote(self._queues, PROMOTED_AT_ONCE)
            claimed = [
                *await self._claim(tx, asked.room, asked.unknown),
                *await self._claim(tx, asked.async_room, {*asked.unknown, *self._sync_names()}),
            ]
            agreed = await self._agree(tx, claimed)
        return Got(
            lost=lost,
            started=started.started if started else (),
            not_started=started.not_started if started else (),
            claimed=[agreed.get(task.claim, task) for task in claimed],
        )

    async def _claim(
        self, tx: Transaction, room: Room | None, excluded: Collection[str]
    ) -> Sequence[Task]:
        return () if room is None else await self.claim(tx, self.worker, room, excluded)

    async def _agree(self, tx: Transaction, claimed: Sequence[Task]) -> dict[Claim, Task]:
        """Plain SQL knows no terms: its tasks get those of their definition, for good."""
        agreed = {
            task.claim: replace(task, terms=self.registry.terms_of(definition))
            for task in claimed
            if not task.terms.agreed and (definition := self.registry.find(task.name))
        }
        if agreed:
            await tx.tasks.agree(list(agreed.values()))
        return agreed

    def _sync_names(self) -> set[str]:
        return {
            name
            for definition in self.registry
            if not definition.is_async
            for name in (definition.name, *definition.aliases)
        }

    @property
    def _queues(self) -> list[str]:
        return [queue.name for queue in self.claim.queues]


def _runs(task: Task) -> bool:
    return task.status is TaskStatus.RUNNING
