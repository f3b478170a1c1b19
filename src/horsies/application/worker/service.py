"""A worker from its first beat to its last."""

import asyncio
import logging
from collections.abc import Sequence

from horsies.application.ports.announcements import Announcements
from horsies.application.ports.executor import Executor, Interruption
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.worker.heart import HeartLoop
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.reaping import ReapLoop
from horsies.application.worker.work import WorkLoop
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.worker import WorkerState

_log = logging.getLogger("horsies.worker")


class WorkerService:
    """Every loop is watched: if one of them fails, the worker ends with its error."""

    def __init__(
        self,
        *,
        worker: WorkerId,
        executor: Executor,
        announcements: Announcements,
        unit_of_work: UnitOfWork,
        holdings: Holdings,
        patience: Patience,
        work: WorkLoop,
        heart: HeartLoop,
        reaping: ReapLoop,
        grace_seconds: float | None,
    ) -> None:
        self._worker = worker
        self._executor = executor
        self._announcements = announcements
        self._unit_of_work = unit_of_work
        self._holdings = holdings
        self._patience = patience
        self._work = work
        self._heart = heart
        self._reaping = reaping
        self._grace_seconds = grace_seconds
        self._stop = asyncio.Event()
        self._stop_at_once = asyncio.Event()

    def stop(self) -> None:
        """Once: let what runs end within the grace. Twice: at once."""
        if self._stop.is_set():
            self._stop_at_once.set()
        self._stop.set()

    async def run(self) -> None:
        """Until it is told to stop."""
        await self._heart.beat()
        await self._executor.open(self._work.wake)
        try:
            async with asyncio.TaskGroup() as loops:
                background = [
                    loops.create_task(self._announcements.listen(self)),
                    loops.create_task(self._heart.run()),
                    loops.create_task(self._reaping.run()),
                ]
                working = loops.create_task(self._work.run())
                await self._until_stopped(working)
                for task in background:
                    task.cancel()
            await self._patience.through(self._retire)
        finally:
            await self._executor.close()

    def news(self) -> None:
        self._work.news()

    def cancels(self, ids: Sequence[TaskId]) -> None:
        claims = self._holdings.running_of(ids)
        self._executor.interrupt(claims, Interruption.CANCEL)

    async def _until_stopped(self, working: asyncio.Task[None]) -> None:
        await self._stop.wait()
        _log.info("stopping: %d tasks are running", len(self._holdings.running))
        self._work.accepting = False
        self._work.wake()
        self._heart.beat_now()
        hurry = asyncio.create_task(self._stop_at_once.wait())
        await asyncio.wait(
            {working, hurry}, timeout=self._grace_seconds, return_when=asyncio.FIRST_COMPLETED
        )
        hurry.cancel()
        if not working.done():
            _log.warning("%d tasks are ended before their time", len(self._holdings.running))
            running = [grant.claim for grant in self._holdings.running]
            self._executor.interrupt(running, Interruption.SHUTDOWN)
            await asyncio.wait({working})

    async def _retire(self) -> None:
        async with self._unit_of_work() as tx:
            await tx.workers.retire(self._worker)

    @property
    def state(self) -> WorkerState:
        if self._stop.is_set():
            return WorkerState.STOPPING
        return WorkerState.BUSY if self._holdings.running else WorkerState.IDLE
