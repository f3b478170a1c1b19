"""The loop that keeps the places of a worker filled."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime

from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import Executor, RunReport
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.tick import Asked, Got, Tick
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Errored, Unbegun, Unresolved
from horsies.domain.queue import Room
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus

DUE_LOOK_SECONDS = 0.04
"""How long a delayed task may be overlooked that was sent after the last look."""

_OF_SINGLE_ROWS = {BrokerFault.BUSY, BrokerFault.CONFLICT, BrokerFault.REFUSED}
_log = logging.getLogger("horsies.worker")


class WorkLoop:
    """Woken by news, free places, due times and the poll; each turn is one transaction."""

    def __init__(
        self,
        *,
        tick: Tick,
        executor: Executor,
        holdings: Holdings,
        unit_of_work: UnitOfWork,
        clock: Clock,
        patience: Patience,
        prefetch_buffer: int,
        max_held: int,
        max_batch: int,
        poll_seconds: float,
    ) -> None:
        self._tick = tick
        self._executor = executor
        self._holdings = holdings
        self._unit_of_work = unit_of_work
        self._clock = clock
        self._patience = patience
        self._prefetch_buffer = prefetch_buffer
        self._max_held = max_held
        self._max_batch = max_batch
        self._poll_seconds = poll_seconds
        self._queues = [queue.name for queue in tick.claim.queues]
        self._wake = asyncio.Event()
        self._reports: list[RunReport] = []
        self._unknown_names: set[str] = set()
        self._more = True  # there may be something to claim
        self._due_unknown = True  # when the next delayed task is due has to be looked up
        self._next_due: datetime | None = None
        self._uncertain = False  # a step failed, and nobody knows what it has claimed
        self.accepting = True
        self._suspended = False

    @property
    def suspended(self) -> bool:
        """While it is, nothing is claimed and what is prefetched goes back; what runs goes on."""
        return self._suspended

    @suspended.setter
    def suspended(self, suspended: bool) -> None:
        if suspended != self._suspended:
            self._suspended = suspended
            self.news()

    @property
    def _takes(self) -> bool:
        return self.accepting and not self._suspended

    def wake(self) -> None:
        """A place is free, or a run has ended."""
        self._wake.set()

    def news(self) -> None:
        """Somebody has sent something."""
        self._more = self._due_unknown = True
        self._wake.set()

    async def run(self) -> None:
        """Until it is cancelled, or it neither accepts nor holds anything any more."""
        while self.accepting or len(self._holdings) or self._reports:
            await self._patience.through(self._turn)
            await self._rest()

    async def _turn(self) -> None:
        """Reports are kept until they are written; an unclear end of a step is cleared up first."""
        if self._uncertain:
            await self._clear_up()
        self._take_reports()
        asked = self._ask()
        if asked is None:
            return
        try:
            got = await self._tick(asked)
        except BrokerError as error:
            self._uncertain = True
            if error.fault not in _OF_SINGLE_ROWS or not asked.reports:
                raise
            await self._settle_one_by_one(error)
            return
        self._settled(asked.reports)
        self._holdings.forget(asked.release)
        self._note(asked, got)
        self._hand_out(got)

    async def _settle_one_by_one(self, reason: BrokerError) -> None:
        """One row that is held or refused must not keep the others from being written."""
        _log.warning("results are written one by one: %s", reason)
        refused: BrokerError | None = None
        for report in tuple(self._reports):
            try:
                await self._tick(Asked(reports=[report]))
            except BrokerError as error:
                if error.fault not in _OF_SINGLE_ROWS:
                    raise
                refused = error
                self._reports.remove(report)
                self._reports.append(_instead_of(report, error))
            else:
                self._settled([report])
        if refused is not None:
            raise BrokerError(str(refused), fault=BrokerFault.BUSY)

    def _settled(self, reports: Sequence[RunReport]) -> None:
        self._holdings.forget(report.task.claim for report in reports)
        written = {id(report) for report in reports}
        self._reports = [report for report in self._reports if id(report) not in written]

    def _take_reports(self) -> None:
        reports = self._executor.take_reports()
        self._reports += reports
        for report in reports:
            if report.outcome == Unresolved(OperationalErrorCode.WORKER_RESOLUTION_ERROR):
                self._unknown_names.add(report.task.name)

    def _ask(self) -> Asked | None:
        """What the next step is to do; None if there is nothing to do."""
        due = self._is_due()
        room, async_room = self._room(due=due)
        startable = list(self._holdings.claimed)[: self._executor.capacity.free]
        asked = Asked(
            reports=tuple(self._reports),
            release=() if self._takes else tuple(self._holdings.claimed),
            start=startable if self._takes else (),
            room=room,
            async_room=async_room,
            promote=due and self._takes,
            unknown=self._unknown_names,
        )
        idle = not (asked.reports or asked.release or asked.start or asked.promote)
        return None if idle and room is None and async_room is None else asked

    def _room(self, *, due: bool) -> tuple[Room | None, Room | None]:
        if not self._takes or not (self._more or due):
            return None, None
        capacity = self._executor.capacity
        free = capacity.free - min(capacity.free, len(self._holdings.claimed))
        ahead = self._prefetch_buffer
        room = self._room_for(free, ahead) if free or len(self._holdings.claimed) < ahead else None
        return room, self._room_for(capacity.only_async, 0) if capacity.only_async else None

    def _room_for(self, places: int, ahead: int) -> Room:
        return Room(
            free_slots=places,
            held=len(self._holdings) - len(self._reports),
            prefetched=len(self._holdings.claimed),
            prefetch_buffer=ahead,
            max_held=self._max_held,
            max_batch=self._max_batch,
        )

    def _note(self, asked: Asked, got: Got) -> None:
        if got.lost:
            _log.warning("%d results came too late: others own the tasks now", len(got.lost))
        wanted = sum(room.free_slots for room in (asked.room, asked.async_room) if room)
        if wanted and len(got.claimed) < wanted:
            self._more = False
        if asked.promote:
            self._due_unknown = True

    def _hand_out(self, got: Got) -> None:
        self._holdings.forget(got.not_started)
        self._holdings.wait(got.waiting)
        runnable = got.runnable
        self._holdings.run(runnable)
        for task in self._executor.submit(runnable):  # its place was taken meanwhile
            self._reports.append(RunReport(task, Unbegun()))
            self._wake.set()

    async def _rest(self) -> None:
        """Until there is a reason to go on."""
        if self._wake.is_set() or self._can_go_on():
            self._wake.clear()
            await asyncio.sleep(0)
            return
        if self._due_unknown and self._takes:
            self._due_unknown = False
            self._next_due = await self._patience.through(self._look_for_due)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._seconds_to_rest(), self._time_to_look)
        await self._wake.wait()
        timer.cancel()
        self._wake.clear()

    def _can_go_on(self) -> bool:
        return self._ask() is not None

    async def _look_for_due(self) -> datetime | None:
        async with self._unit_of_work() as tx:
            return await tx.tasks.next_due(self._queues)

    def _seconds_to_rest(self) -> float:
        if self._next_due is None:
            return self._poll_seconds
        left = (self._next_due - self._clock.now()).total_seconds()
        return min(self._poll_seconds, max(0.0, left))

    def _time_to_look(self) -> None:
        self._more = True
        self._due_unknown = not self._is_due()
        self._wake.set()

    def _is_due(self) -> bool:
        return self._next_due is not None and self._next_due <= self._clock.now()

    async def _clear_up(self) -> None:
        """A step whose end is unknown may have claimed tasks that nobody was told of."""
        async with self._unit_of_work() as tx:
            held = await tx.tasks.held_by(self._tick.worker)
        unheard = [task for task in held if task.claim not in self._holdings]
        self._give_back(unheard)
        self._uncertain = False

    def _give_back(self, unheard: Sequence[Task]) -> None:
        self._holdings.wait(task for task in unheard if task.status is TaskStatus.CLAIMED)
        running = [task for task in unheard if task.status is TaskStatus.RUNNING]
        self._holdings.run(running)
        self._reports += [RunReport(task, Unbegun()) for task in running]


def _instead_of(report: RunReport, error: BrokerError) -> RunReport:
    """A result that the database does not take is an error that it does."""
    if error.fault is not BrokerFault.REFUSED:
        return report
    outcome = Errored(OperationalErrorCode.WORKER_SERIALIZATION_ERROR)
    return RunReport(report.task, outcome, detail=f"the result could not be stored: {error}")
