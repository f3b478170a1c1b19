"""Tasks in memory: fences are checked here, what a change means is the domain's."""

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from horsies.adapters.memory.state import MemoryState
from horsies.domain.cancellation import CancelAnswer, answer_cancel
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.outcome import is_expired
from horsies.domain.progress import Progress
from horsies.domain.queue import ClaimOrder, InFlight, Share
from horsies.domain.run_ahead import may_wait_in_line
from horsies.domain.settlement import (
    Carried,
    Known,
    Settlement,
    SettleReport,
    Written,
    carry_out,
    held,
    report,
)
from horsies.domain.task import Claim, NewTask, Task
from horsies.domain.task_lifecycle import TaskStatus


class MemoryTaskStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def insert(self, tasks: Sequence[NewTask]) -> None:
        for new in tasks:
            if self._state.find(new.id) is None:
                self._state.admit(new)

    async def promote(self, queues: Collection[str], limit: int) -> int:
        now = self._state.clock.now()
        promoted = 0
        while promoted < limit:
            task = self._state.index.first_waiting(queues)
            if task is None or task.enqueued_at > now:
                break
            self._state.write(task.promoted())
            promoted += 1
        return promoted

    async def next_due(self, queues: Collection[str]) -> datetime | None:
        task = self._state.index.first_waiting(queues)
        return task.enqueued_at if task is not None else None

    async def in_flight(self, queues: Collection[str]) -> InFlight:
        index = self._state.index
        return InFlight(index.in_flight(), {queue: index.in_flight(queue) for queue in queues})

    async def claim(self, order: ClaimOrder) -> Sequence[Task]:
        taken: list[Task] = []
        all_light = True
        for tier in order.tiers:
            open_ones = [share for share in tier if share.queue not in self._state.paused]
            most = order.most - len(taken)
            with closing(self._take(open_ones, most, order)) as tasks:
                for task in tasks:
                    all_light = all_light and _is_light(task, order)
                    if len(taken) >= order.limit and not all_light:
                        self._state.index.add(task)
                        return taken
                    taken.append(self._claim_one(task, order))
        return taken

    def _claim_one(self, task: Task, order: ClaimOrder) -> Task:
        now = self._state.clock.now()
        claimed = task.claimed(order.worker, now)
        claimed = claimed.started(now) if order.start else claimed
        self._state.write(claimed)
        return claimed

    async def held_by(self, worker: WorkerId) -> Sequence[Task]:
        return [task for task in self._state.live.rows() if task.worker == worker]

    async def agree(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            row = self._state.live.get(task.id)
            if row is not None and row.epoch == task.epoch and not row.terms.agreed:
                self._state.write(replace(row, terms=task.terms))

    async def start(self, claims: Collection[Claim]) -> Sequence[Task]:
        now = self._state.clock.now()
        started: list[Task] = []
        for claim in claims:
            task = self._held(claim, TaskStatus.CLAIMED)
            if task is None:
                continue
            if is_expired(task.good_until, now):
                self._state.write(task.expired(now))
                continue
            started.append(task.started(now))
            self._state.write(started[-1])
        return started

    async def settle(self, settlements: Sequence[Settlement]) -> SettleReport:
        return report(
            {settlement.claim: self._settle_one(settlement) for settlement in settlements}
        )

    async def note_progress(self, told: Mapping[Claim, Progress]) -> None:
        for claim, progress in told.items():
            if self._held(claim, TaskStatus.RUNNING):
                self._state.progress.put(claim.id, (claim.epoch, progress))

    async def release(self, claims: Collection[Claim]) -> int:
        now = self._state.clock.now()
        released = 0
        for claim in claims:
            task = self._held(claim, TaskStatus.CLAIMED)
            if task is not None:
                self._state.write(task.released(now))
                released += 1
        return released

    async def cancel(self, ids: Collection[TaskId]) -> Mapping[TaskId, CancelAnswer]:
        now = self._state.clock.now()
        answers: dict[TaskId, CancelAnswer] = {}
        for task_id in ids:
            task = self._state.find(task_id)
            answers[task_id] = answer = answer_cancel(task.status if task else None)
            if task is not None and answer is CancelAnswer.CANCELLED:
                self._state.write(task.cancelled(now))
            elif task is not None and answer is CancelAnswer.REQUESTED:
                self._state.write(task.cancel_requested(now))
        return answers

    def _take(self, tier: Sequence[Share], limit: int, order: ClaimOrder) -> Generator[Task]:
        """The next tasks of a tier; the one given must be claimed before the next is asked for."""
        now = self._state.clock.now()
        left = {share.queue: share.limit for share in tier}
        passed_over: list[Task] = []
        try:
            while limit > 0:
                task = self._state.index.take_ready([queue for queue in left if left[queue] > 0])
                if task is None:
                    return
                if _is_left_out(task, order) or is_expired(task.good_until, now):
                    passed_over.append(task)
                    continue
                limit -= 1
                left[task.queue] -= 1
                yield task
        finally:
            for task in passed_over:
                self._state.index.add(task)

    def _held(self, claim: Claim, status: TaskStatus) -> Task | None:
        return held(self._state.live.get(claim.id), claim, status)

    def _settle_one(self, settlement: Settlement) -> Carried:
        claim = settlement.claim
        known = Known(
            live=self._state.live.get(claim.id),
            ended=self._state.history.get(claim.id),
            attempt=self._state.attempts.get((claim.id, claim.epoch)),
        )
        carried = carry_out(settlement, known, self._state.clock.now())
        if isinstance(carried, Written):
            if carried.attempt is not None:
                self._state.attempts.put((claim.id, claim.epoch), carried.attempt)
            self._state.write(carried.task)
        return carried


def _is_left_out(task: Task, order: ClaimOrder) -> bool:
    return task.name in order.excluded or task.id in order.passed_over


def _is_light(task: Task, order: ClaimOrder) -> bool:
    return may_wait_in_line(
        task.name, task.terms, task.crashes, expires=task.expires, light=order.light
    )
