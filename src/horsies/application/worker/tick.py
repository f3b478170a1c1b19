"""One durable step: settle what has ended, start what waited, claim what there is room for.

Nearly all steps only complete what has succeeded and claim what is next: a store that can do that
at once is asked to. Whatever else there is to do makes it a transaction of several statements.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from horsies.application.ports.executor import RunReport
from horsies.application.ports.grant import Grant
from horsies.application.ports.turn_over import TurnOver
from horsies.application.ports.unit_of_work import Transaction, UnitOfWork
from horsies.application.registry import TaskRegistry
from horsies.application.usecases.claim_tasks import (
    NOTHING_UNFIT,
    ClaimTasks,
    Unfit,
    release_tasks,
    start_tasks,
)
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.domain.ids import WorkerId
from horsies.domain.outcome import Succeeded
from horsies.domain.queue import ClaimOrder, Room
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus

PROMOTED_AT_ONCE = 1_000
"""Due tasks that enter the claimable ones in one step; the rest follows with the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one step is to do. `room` is for any task, `async_room` for async ones alone.

    `careful` finds out what became of each report.
    """

    reports: Sequence[RunReport] = ()
    release: Collection[Grant] = ()
    start: Collection[Grant] = ()
    room: Room | None = None
    async_room: Room | None = None
    promote: bool = False
    unfit: Unfit = NOTHING_UNFIT
    careful: bool = False

    @property
    def rooms(self) -> int:
        return (self.room is not None) + (self.async_room is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What came of it. What is `unwritten` is to be asked for again, with care.

    A start that was asked for and is not among the runnable is not to be: expired, cancelled or
    taken over meanwhile.
    """

    lost: int = 0
    promoted: int = 0
    unwritten: Sequence[RunReport] = ()
    runnable: Sequence[Grant] = ()
    waiting: Sequence[Grant] = ()
    claimed: int = 0
    wanted: int = 0
    exhausted: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    unit_of_work: UnitOfWork
    settle: SettleTasks
    claim: ClaimTasks
    registry: TaskRegistry
    worker: WorkerId
    turn_over: TurnOver | None = None

    async def __call__(self, asked: Asked) -> Got:
        if self.turn_over is not None and self._is_plain(asked):
            return await self._turn_over(self.turn_over, asked)
        return await self._transact(asked)

    def _is_plain(self, asked: Asked) -> bool:
        """Whether it is nothing but successes to be settled, and claims that count nothing."""
        return (
            not (asked.careful or asked.release or asked.start or asked.promote)
            and not (asked.rooms and self.claim.counts)
            and not (asked.room and asked.room.prefetch_buffer)
            and all(isinstance(report.outcome, Succeeded) for report in asked.reports)
        )

    async def _turn_over(self, turn_over: TurnOver, asked: Asked) -> Got:
        """For two rooms it is two steps, each of them durable by itself."""
        first, *rest = [*self._orders(asked), None]
        turned = [await turn_over(asked.reports, first)]
        turned += [await turn_over((), order) for order in rest if order]
        granted = [grant for each in turned for grant in each.granted]
        return Got(
            unwritten=turned[0].unwritten,
            runnable=await self._with_terms(granted),
            claimed=len(granted),
            wanted=sum(order.reachable for order in (first, *rest) if order),
            exhausted=all(each.exhausted for each in turned),
        )

    def _orders(self, asked: Asked) -> Iterator[ClaimOrder]:
        if asked.room is not None:
            yield from self.claim.plan(self.worker, asked.room, unfit=asked.unfit)
        if asked.async_room is not None:
            unfit = self._only_async(asked)
            yield from self.claim.plan(self.worker, asked.async_room, unfit=unfit)

    def _only_async(self, asked: Asked) -> Unfit:
        return asked.unfit.besides(self.registry.sync_names)

    async def _transact(self, asked: Asked) -> Got:
        async with self.unit_of_work() as tx:
            lost = await self.settle(tx, asked.reports)
            if asked.release:
                await release_tasks(tx, [grant.claim for grant in asked.release])
            started = await self._start(tx, asked.start)
            promoted = await self._promote(tx) if asked.promote else 0
            claimed, orders = await self._claim(tx, asked)
            agreed = await self._agree(tx, claimed)
        running = [task for task in agreed if task.status is TaskStatus.RUNNING]
        return Got(
            lost=len(lost),
            promoted=promoted,
            runnable=[*started, *running],
            waiting=[task for task in agreed if task.status is TaskStatus.CLAIMED],
            claimed=len(claimed),
            wanted=sum(order.reachable for order in orders),
            exhausted=len(claimed) < sum(min(order.limit, order.reachable) for order in orders),
        )

    async def _promote(self, tx: Transaction) -> int:
        return await tx.tasks.promote(self._queues, PROMOTED_AT_ONCE)

    async def _start(self, tx: Transaction, grants: Collection[Grant]) -> Sequence[Task]:
        if not grants:
            return ()
        return (await start_tasks(tx, [grant.claim for grant in grants])).started

    async def _claim(self, tx: Transaction, asked: Asked) -> tuple[list[Task], list[ClaimOrder]]:
        orders: list[ClaimOrder] = []
        if asked.room is not None:
            orders += await self.claim.orders(tx, self.worker, asked.room, asked.unfit)
        if asked.async_room is not None:
            unfit = self._only_async(asked)
            orders += await self.claim.orders(tx, self.worker, asked.async_room, unfit)
        return [task for order in orders for task in await tx.tasks.claim(order)], orders

    async def _with_terms(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        """Tasks from plain SQL are rare enough for a transaction of their own."""
        if all(grant.terms.agreed for grant in grants):
            return grants
        async with self.unit_of_work() as tx:
            return await self._agree(tx, [grant.task for grant in grants])

    async def _agree(self, tx: Transaction, claimed: Sequence[Task]) -> list[Task]:
        """Plain SQL knows no terms: its tasks get those of their definition, for good."""
        agreed = {
            task.claim: replace(task, terms=self.registry.terms_of(definition))
            for task in claimed
            if not task.terms.agreed and (definition := self.registry.find(task.name))
        }
        if not agreed:
            return list(claimed)
        await tx.tasks.agree(list(agreed.values()))
        return [agreed.get(task.claim, task) for task in claimed]

    @property
    def _queues(self) -> list[str]:
        return [queue.name for queue in self.claim.queues]
