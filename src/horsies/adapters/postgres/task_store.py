"""Tasks in PostgreSQL: rows are locked, changed by the domain, and written back.

Two changes are made by their statement alone, because every task passes through them: the claim
and the completion.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from horsies.adapters.postgres.claiming import (
    NO_ORDER,
    Told,
    claimed_task,
    in_order,
    name_of,
    read_last,
    values_of,
)
from horsies.adapters.postgres.rows import Row, attempt_of, columns_of_attempts, text_of
from horsies.adapters.postgres.sending import groups
from horsies.adapters.postgres.session import Session
from horsies.adapters.postgres.terms import encode_terms
from horsies.domain.cancellation import CancelAnswer, answer_cancel
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.outcome import Complete, is_expired
from horsies.domain.progress import Progress
from horsies.domain.queue import ClaimOrder, InFlight
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
from horsies.domain.task import Attempt, Claim, NewTask, Task
from horsies.domain.task_lifecycle import TaskStatus


class PostgresTaskStore:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def insert(self, tasks: Sequence[NewTask]) -> None:
        known = await self._session.rows("known_sends", ids=[task.id for task in tasks])
        known_ids = {row[0] for row in known}
        now = self._session.clock.now()
        for values in groups([task for task in tasks if task.id not in known_ids], now):
            await self._session.change("enqueue", **values)

    async def promote(self, queues: Collection[str], limit: int) -> int:
        now = self._session.clock.now()
        return await self._session.change("promote", queues=list(queues), now=now, limit=limit)

    async def next_due(self, queues: Collection[str]) -> datetime | None:
        ((due,),) = await self._session.rows("next_due", queues=list(queues))
        return due

    async def in_flight(self, queues: Collection[str]) -> InFlight:
        await self._session.rows("lock_caps", lock=self._session.lock_name("caps"))
        counts: dict[str, int] = dict(await self._session.rows("in_flight"))
        self._session.counted(queues)
        return InFlight(sum(counts.values()), {queue: counts.get(queue, 0) for queue in queues})

    async def claim(self, order: ClaimOrder) -> Sequence[Task]:
        now = self._session.clock.now()
        rows, _ = await self._turn_over(order, now, [])
        tasks = [claimed_task(row, order.worker, now, started=order.start) for row in rows]
        return in_order(tasks, order)

    async def held_by(self, worker: WorkerId) -> Sequence[Task]:
        return await self._session.tasks("held_by", worker=worker)

    async def agree(self, tasks: Sequence[Task]) -> None:
        await self._session.change(
            "agree",
            ids=[task.id for task in tasks],
            epochs=[task.epoch for task in tasks],
            terms=[encode_terms(task.terms) for task in tasks],
            lifetimes=[task.terms.result_ttl for task in tasks],
        )

    async def start(self, claims: Collection[Claim]) -> Sequence[Task]:
        now = self._session.clock.now()
        tasks = await self._lock_held(claims, TaskStatus.CLAIMED)
        overdue = [task.expired(now) for task in tasks if is_expired(task.good_until, now)]
        started = [task.started(now) for task in tasks if not is_expired(task.good_until, now)]
        await self._session.write([*overdue, *started])
        return started

    async def settle(self, settlements: Sequence[Settlement]) -> SettleReport:
        now = self._session.clock.now()
        # All locks at once and in one order: a lock that is taken after the completions could be
        # held by somebody who waits for one of them.
        pure = all(isinstance(each.verdict, Complete) for each in settlements)
        live = {} if pure else await self._lock([each.claim.id for each in settlements])
        completed = await self._complete(settlements, now)
        rest = [each for each in settlements if each.claim.id not in completed]
        if not rest:
            return SettleReport()
        if pure:  # nothing more will be written, so there is nothing to lock
            live = await self._look([each.claim.id for each in rest])
        known = await self._known([each.claim for each in rest], live)
        carried = {each.claim: carry_out(each, known[each.claim], now) for each in rest}
        await self._write(carried.values())
        return report(carried)

    async def note_progress(self, told: Mapping[Claim, Progress]) -> None:
        await self._session.change(
            "note_progress",
            ids=[claim.id for claim in told],
            epochs=[claim.epoch for claim in told],
            fractions=[progress.fraction for progress in told.values()],
            notes=[progress.note for progress in told.values()],
        )

    async def release(self, claims: Collection[Claim]) -> int:
        now = self._session.clock.now()
        tasks = await self._lock_held(claims, TaskStatus.CLAIMED)
        await self._session.write([task.released(now) for task in tasks])
        return len(tasks)

    async def cancel(self, ids: Collection[TaskId]) -> Mapping[TaskId, CancelAnswer]:
        now = self._session.clock.now()
        live = await self._lock(ids)
        ended = await self._session.tasks("find_ended", ids=[i for i in ids if i not in live])
        known = live | {task.id: task for task in ended}
        answers = {
            task_id: answer_cancel(known[task_id].status if task_id in known else None)
            for task_id in ids
        }
        await self._session.write(
            [
                *(
                    live[i].cancelled(now)
                    for i, a in answers.items()
                    if a is CancelAnswer.CANCELLED
                ),
                *(
                    live[i].cancel_requested(now)
                    for i, a in answers.items()
                    if a is CancelAnswer.REQUESTED
                ),
            ]
        )
        self._session.announce_cancel(i for i, a in answers.items() if a is CancelAnswer.REQUESTED)
        return answers

    async def _lock(self, ids: Collection[TaskId]) -> dict[TaskId, Task]:
        return {task.id: task for task in await self._session.tasks("lock_tasks", ids=list(ids))}

    async def _look(self, ids: Collection[TaskId]) -> dict[TaskId, Task]:
        return {task.id: task for task in await self._session.tasks("find_live", ids=list(ids))}

    async def _lock_held(self, claims: Collection[Claim], status: TaskStatus) -> list[Task]:
        tasks = await self._lock([claim.id for claim in claims])
        return [task for claim in claims if (task := held(tasks.get(claim.id), claim, status))]

    async def _complete(self, settlements: Sequence[Settlement], now: datetime) -> set[TaskId]:
        done = sorted(
            (each for each in settlements if isinstance(each.verdict, Complete)),
            key=lambda each: each.claim.id,
        )
        if not done:
            return set()
        _, told = await self._turn_over(NO_ORDER, now, done)
        completed = {each.claim.id for each in done} - told.missed
        self._session.announce_end(completed)
        return completed

    async def _turn_over(
        self, order: ClaimOrder, now: datetime, done: Sequence[Settlement]
    ) -> tuple[list[Row], Told]:
        rows = await self._session.rows(
            name_of(order),
            ids=[each.claim.id for each in done],
            epochs=[each.claim.epoch for each in done],
            results=[text_of(each.result) for each in done],
            **values_of(order, now, self._session.done_channel),
        )
        return rows[:-1], read_last(rows[-1])

    async def _known(
        self, claims: Sequence[Claim], live: Mapping[TaskId, Task]
    ) -> dict[Claim, Known]:
        gone = [
            claim for claim in claims if held(live.get(claim.id), claim, TaskStatus.RUNNING) is None
        ]
        ended = await self._ended(gone)
        attempts = await self._attempts(gone)
        return {
            claim: Known(live.get(claim.id), ended.get(claim.id), attempts.get(claim))
            for claim in claims
        }

    async def _ended(self, claims: Sequence[Claim]) -> dict[TaskId, Task]:
        if not claims:
            return {}
        ids = [claim.id for claim in claims]
        return {task.id: task for task in await self._session.tasks("find_ended", ids=ids)}

    async def _attempts(self, claims: Sequence[Claim]) -> dict[Claim, Attempt]:
        if not claims:
            return {}
        rows = await self._session.rows(
            "past_attempts",
            ids=[claim.id for claim in claims],
            epochs=[claim.epoch for claim in claims],
        )
        attempts = [attempt_of(row) for row in rows]
        return {Claim(attempt.task_id, attempt.epoch): attempt for attempt in attempts}

    async def _write(self, carried: Iterable[Carried]) -> None:
        written = [each for each in carried if isinstance(each, Written)]
        attempts = [each.attempt for each in written if each.attempt is not None]
        if attempts:
            await self._session.change("record_attempts", **columns_of_attempts(attempts))
        await self._session.write([each.task for each in written])
