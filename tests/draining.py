"""Running what is queued right here, in this process: for laws that need no worker."""

import asyncio
from collections.abc import Sequence

from horsies import Horsies
from horsies.application.ports.executor import RunReport
from horsies.application.ports.performer import Job, Performed, Supervision
from horsies.domain.queue import Room
from horsies.domain.task import Task
from horsies.entrypoints.online import Online

_A_BATCH = Room(free_slots=100)


class _Runner:
    def __init__(self, online: Online) -> None:
        container = online.container
        self._unit_of_work = container.unit_of_work()
        self._claim, self._settle = container.claim(), container.settle()
        self._perform = container.perform()
        self._worker = container.ids().worker_id()
        self._queues = [queue.name for queue in container.config().queues()]
        self._run_sync = online.run

    def drain(self) -> int:
        return self._run_sync(self._run_all())

    async def _run_all(self) -> int:
        runs = 0
        reports: Sequence[RunReport] = ()
        while True:
            tasks = await self._tick(reports)
            reports = [await self._run(task) for task in tasks]
            runs += len(tasks)
            if not tasks:
                return runs

    async def _tick(self, reports: Sequence[RunReport]) -> Sequence[Task]:
        async with self._unit_of_work() as tx:
            await self._settle(tx, reports)
            await tx.tasks.promote(self._queues, _A_BATCH.free_slots)
            return await self._claim(tx, self._worker, _A_BATCH)

    async def _run(self, task: Task) -> RunReport:
        performed = await self._perform_one(Job.of(task), Unsupervised())
        return RunReport(task, performed.outcome, performed.result, performed.detail)

    async def _perform_one(self, job: Job, supervision: Supervision) -> Performed:
        if self._perform.is_async(job.name):
            return await self._perform.run_async(job, supervision)
        return await asyncio.to_thread(self._perform.run, job, supervision)


class Unsupervised:
    """Nobody listens, and nobody asks a run to end."""

    def begin(self) -> None: ...

    def progress(self, fraction: float, note: str | None) -> None: ...

    def is_cancelled(self) -> bool:
        return False


def drain(app: Horsies) -> int:
    """Run what is due; gives the number of runs."""
    return _Runner(app._connected()).drain()
