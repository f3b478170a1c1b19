"""Taking tasks: claim by budget, start what was prefetched, give back what will not run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from horsies.application.ports.unit_of_work import Transaction
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.queue import ClaimOrder, InFlight, Queue, Room, plan_claims
from horsies.domain.task import Claim, Task

_NOTHING_COUNTED = InFlight()


@dataclass(frozen=True, slots=True)
class Unfit:
    """What a worker leaves to others: all tasks of some names, and some single tasks."""

    names: frozenset[str] = frozenset()
    tasks: frozenset[TaskId] = frozenset()

    def besides(self, names: frozenset[str]) -> "Unfit":
        return Unfit(self.names | names, self.tasks)


NOTHING_UNFIT = Unfit()


@dataclass(frozen=True, slots=True)
class ClaimTasks:
    """Claim as much as slots, prefetch and caps allow; counting is paid for only where capped."""

    queues: Sequence[Queue]
    cluster_cap: int | None = None

    @property
    def counts(self) -> bool:
        """Whether what is in flight has to be counted before a claim."""
        return self.cluster_cap is not None or any(queue.capped for queue in self.queues)

    async def __call__(
        self, tx: Transaction, worker: WorkerId, room: Room, unfit: Unfit = NOTHING_UNFIT
    ) -> Sequence[Task]:
        orders = await self.orders(tx, worker, room, unfit)
        return [task for order in orders for task in await tx.tasks.claim(order)]

    async def orders(
        self, tx: Transaction, worker: WorkerId, room: Room, unfit: Unfit = NOTHING_UNFIT
    ) -> tuple[ClaimOrder, ...]:
        """After what is in flight was counted, where that is asked for."""
        return self.plan(worker, room, await self._in_flight(tx), unfit)

    def plan(
        self,
        worker: WorkerId,
        room: Room,
        in_flight: InFlight = _NOTHING_COUNTED,
        unfit: Unfit = NOTHING_UNFIT,
    ) -> tuple[ClaimOrder, ...]:
        return plan_claims(
            worker,
            self.queues,
            room,
            in_flight,
            cluster_cap=self.cluster_cap,
            excluded=unfit.names,
            passed_over=unfit.tasks,
        )

    async def _in_flight(self, tx: Transaction) -> InFlight:
        if not self.counts:
            return _NOTHING_COUNTED
        everywhere = self.cluster_cap is not None
        counted = sorted(queue.name for queue in self.queues if queue.capped or everywhere)
        return await tx.tasks.in_flight(counted)


@dataclass(frozen=True, slots=True)
class StartedTasks:
    started: Sequence[Task]
    not_started: frozenset[Claim]
    """Expired, cancelled or taken over meanwhile: their code must not run."""


async def start_tasks(tx: Transaction, claims: Collection[Claim]) -> StartedTasks:
    """Prefetched tasks whose turn has come."""
    started = await tx.tasks.start(claims)
    return StartedTasks(started, frozenset(claims) - {task.claim for task in started})


async def release_tasks(tx: Transaction, claims: Collection[Claim]) -> int:
    """Claimed tasks that this worker will not run: they go back to their place in the queue."""
    return await tx.tasks.release(claims) if claims else 0
