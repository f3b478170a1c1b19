"""A worker from its first beat to its last."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import cast

from horsies.application.ports.announcements import Announcements
from horsies.application.ports.executor import Executor, Interruption
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.worker.heart import HeartLoop
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.progress import ProgressLoop
from horsies.application.worker.reaping import ReapLoop
from horsies.application.worker.vigil import Vigil
from horsies.application.worker.work import WorkLoop
from horsies.domain.errors import BrokerError, HorsiesError
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.worker import WorkerState, state_shown

_log = logging.getLogger("horsies.worker")


class LoopEndedError(HorsiesError):
    """A loop of the worker came to an end although nobody had asked for it."""


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
        vigil: Vigil,
        reaping: ReapLoop,
        progress: ProgressLoop,
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
        self._vigil = vigil
        self._reaping = reaping
        self._progress = progress
        self._grace_seconds = grace_seconds
        self._opened = self._serving = False
        self._stop = asyncio.Event()
        self._stop_at_once = asyncio.Event()
        patience.only_while(self._is_worth_waiting)

    def stop(self) -> None:
        """Once: let what runs end within the grace. Twice: at once."""
        if self._stop.is_set():
            self._stop_at_once.set()
        self._stop.set()
        self._patience.reconsider()

    async def run(self) -> None:
        """Until it is told to stop."""
        try:
            async with asyncio.TaskGroup() as loops:
                serving = loops.create_task(self._serve())
                loops.create_task(self._end_with(serving))
        except BaseExceptionGroup as group:
            error = _first(group)
            if not self._leaves_nothing_behind(error):
                raise error from group
        finally:
            if self._opened:
                await self._executor.close()
        await self._work.finish()
        await self._retire()

    async def _serve(self) -> None:
        """The first beat comes before anything is claimed: it may say that nothing is to be."""
        await self._heart.beat()
        async with asyncio.TaskGroup() as loops:
            background = [
                loops.create_task(_unending("heart", self._heart.run)),
                loops.create_task(self._announcements.listen(self)),
            ]
            self._opened = True
            await self._executor.open(self._work.wake, self._progress.told)
            self._serving = True
            self._heart.beat_now()
            background += [
                loops.create_task(_unending("vigil", self._vigil.run)),
                loops.create_task(_unending("reaper", self._reaping.run)),
                loops.create_task(_unending("progress", self._progress.run)),
            ]
            _log.info("ready for tasks")
            await self._work.run()
            if not self._stop.is_set():
                raise LoopEndedError("the worker's loop for tasks ended by itself")
            for task in background:
                task.cancel()

    async def _end_with(self, serving: "asyncio.Task[None]") -> None:
        """Lets what runs end, for as long as it may; while nothing runs yet, there is no wait."""
        await _first_of(serving, self._stop)
        if not self._serving:
            serving.cancel()
        if not self._serving or serving.done():
            return
        _log.info("stopping: %d tasks are running", len(self._holdings.running))
        self._work.accepting = False
        self._work.wake()
        self._heart.beat_now()
        await _first_of(serving, self._stop_at_once, self._grace_seconds)
        if not serving.done():
            _log.warning("%d tasks are ended before their time", len(self._holdings.running))
            running = [grant.claim for grant in self._holdings.running]
            self._executor.interrupt(running, Interruption.SHUTDOWN)

    def news(self) -> None:
        self._work.news()

    def cancels(self, ids: Sequence[TaskId]) -> None:
        claims = self._holdings.running_of(ids)
        self._executor.interrupt(claims, Interruption.CANCEL)

    def changes(self) -> None:
        self._heart.beat_now()

    def pings(self, asked_at: datetime) -> None:
        self._heart.pinged(asked_at)

    @property
    def state(self) -> WorkerState:
        return state_shown(
            serving=self._serving,
            stopping=self._stop.is_set(),
            suspended=self._work.suspended,
            running=len(self._holdings.running),
        )

    def _is_worth_waiting(self) -> bool:
        """Who is to stop waits for the database if there is still something to tell it."""
        if not self._stop.is_set():
            return True
        return len(self._holdings) > 0 and not self._stop_at_once.is_set()

    def _leaves_nothing_behind(self, error: BaseException) -> bool:
        """A database that is away does not keep an idle worker from leaving in good order."""
        away = isinstance(error, BrokerError) and error.retryable
        return away and self._stop.is_set() and len(self._holdings) == 0

    async def _retire(self) -> None:
        """Its lease would tell the others too, a little later."""
        try:
            async with self._unit_of_work() as tx:
                await tx.workers.retire(self._worker)
        except BrokerError as error:
            _log.warning("left without a word to the database: %s", error)


async def _unending(name: str, loop: Callable[[], Awaitable[None]]) -> None:
    await loop()
    raise LoopEndedError(f"the worker's {name} ended by itself")


async def _first_of(
    task: "asyncio.Task[None]", event: asyncio.Event, seconds: float | None = None
) -> None:
    told = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({task, told}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first; the rest was its consequence."""
    error = group.exceptions[0]
    if isinstance(error, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", error))
    return error
