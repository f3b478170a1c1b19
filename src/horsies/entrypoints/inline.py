"""Running what is queued right here, in this process, until nothing is left to run.

For demonstrations and scripts: one task after the other, no supervision. Not a worker.
"""

import asyncio
from collections.abc import Sequence

from horsies.application.definition import Ran
from horsies.application.ports.executor import RunReport
from horsies.application.ports.performer import Performed
from horsies.application.usecases.perform_task import Prepared
from horsies.domain.queue import Room
from horsies.domain.task import Task
from horsies.entrypoints.online import Online

_A_BATCH = Room(free_slots=100)


class InlineRunner:
    def __init__(self, online: Online) -> None:
        container = online.container
        self._unit_of_work, self._clock = container.unit_of_work(), container.clock()
        self._claim, self._settle = container.claim(), container.settle()
        self._perform = container.perform()
        self._worker = container.ids().worker_id()
        self._queues = [queue.name for queue in container.config().queues()]
        self._run_sync = online.run

    def drain(self, horizon_seconds: float = 0) -> int:
        """Run what is due, and what falls due soon; gives the number of runs."""
        return self._run_sync(self._drain(horizon_seconds))

    async def _drain(self, horizon_seconds: float) -> int:
        runs = 0
        reports: Sequence[RunReport] = ()
        while True:
            tasks = await self._tick(reports)
            reports = [await self._run(task) for task in tasks]
            runs += len(tasks)
            if tasks:
                continue
            wait = await self._until_due()
            if wait is None or wait > horizon_seconds:
                return runs
            await asyncio.sleep(wait)

    async def _tick(self, reports: Sequence[RunReport]) -> Sequence[Task]:
        async with self._unit_of_work() as tx:
            await self._settle(tx, reports)
            await tx.tasks.promote(self._queues, _A_BATCH.free_slots)
            return await self._claim(tx, self._worker, _A_BATCH)

    async def _until_due(self) -> float | None:
        async with self._unit_of_work() as tx:
            due = await tx.tasks.next_due(self._queues)
        return None if due is None else max(0.0, (due - self._clock.now()).total_seconds())

    async def _run(self, task: Task) -> RunReport:
        prepared = self._perform.prepare(task.name, task.payload)
        if isinstance(prepared, Performed):
            return RunReport(task, prepared.outcome, prepared.result, prepared.detail)
        performed = self._perform.conclude(prepared.definition, await _call(prepared))
        return RunReport(task, performed.outcome, performed.result, performed.detail)


async def _call(prepared: Prepared) -> Ran:
    if prepared.definition.is_async:
        return await prepared.run_async()
    return await asyncio.to_thread(prepared.run)
