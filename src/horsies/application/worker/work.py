"""The loop that keeps the places of a worker filled."""

import asyncio
import logging
from collections.abc import Sequence

from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import Executor, RunReport
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.worker.appetite import Appetite
from horsies.application.worker.due_time import DueTime
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.misfits import Misfits
from horsies.application.worker.patience import Patience
from horsies.application.worker.story import tell
from horsies.application.worker.stragglers import OF_SINGLE_ROWS, Stragglers
from horsies.application.worker.tick import Asked, Got, Tick
from horsies.domain.errors import BrokerError
from horsies.domain.outcome import Succeeded, Unbegun, Unresolved
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus

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
        appetite: Appetite,
        poll_seconds: float,
    ) -> None:
        self._tick = tick
        self._executor = executor
        self._holdings = holdings
        self._unit_of_work = unit_of_work
        self._patience = patience
        self._appetite = appetite
        self._poll_seconds = poll_seconds
        self._due = DueTime(unit_of_work, clock, [queue.name for queue in tick.claim.queues])
        self._wake = asyncio.Event()
        self._reports: list[RunReport] = []
        self._stragglers = Stragglers(self._write, self._written_late)
        self._careful = False  # the quick way could not write something
        self._misfits = Misfits()
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
        self._appetite.wake()
        self._due.forget()
        self._wake.set()

    async def run(self) -> None:
        """Until it is cancelled, or it neither accepts nor holds anything that it could write."""
        async with asyncio.TaskGroup() as group:
            late = group.create_task(self._stragglers.run())
            while self.accepting or len(self._holdings) > len(self._stragglers) or self._reports:
                await self._patience.through(self._turn)
                await self._rest()
            late.cancel()

    async def finish(self) -> None:
        """After the tasks and their processes have ended: what somebody has held until now."""
        await self._stragglers.finish()

    async def _turn(self) -> None:
        """Reports are kept until they are written; an unclear end of a step is cleared up first."""
        if self._uncertain:
            await self._clear_up()
        if self._takes:
            await self._due.look_now_and_then()
        self._take_reports()
        asked = self._ask()
        if asked is None:
            return
        try:
            got = await self._tick(asked)
        except BrokerError as error:
            self._uncertain = True
            if error.fault not in OF_SINGLE_ROWS or not asked.reports:
                raise
            await self._settle_one_by_one(error)
            return
        self._settled(asked.reports, got.unwritten)
        self._holdings.forget(asked.release)
        self._holdings.forget(asked.start)  # what was started comes back as running
        self._note(asked, got)
        self._hand_out(got)

    async def _settle_one_by_one(self, reason: BrokerError) -> None:
        """One row that is held or refused must not keep the others from being written."""
        _log.warning("results are written one by one: %s", reason)
        for report in tuple(self._reports):
            try:
                await self._write(report)
            except BrokerError as error:
                if error.fault not in OF_SINGLE_ROWS:
                    raise
                self._reports.remove(report)
                self._stragglers.add(report, error)
            else:
                self._settled([report], ())

    async def _write(self, report: RunReport) -> None:
        await self._tick(Asked(reports=[report], careful=True))

    def _written_late(self, report: RunReport) -> None:
        self._holdings.forget([report.grant])
        self._due.forget()
        self._wake.set()

    def _settled(self, reports: Sequence[RunReport], unwritten: Sequence[RunReport]) -> None:
        """What the quick way could not write goes the slow one with the next step."""
        written = {id(report) for report in reports} - {id(report) for report in unwritten}
        self._holdings.forget(report.grant for report in reports if id(report) in written)
        self._reports = [report for report in self._reports if id(report) not in written]
        self._careful = bool(unwritten)
        if not all(isinstance(report.outcome, Succeeded) for report in reports):
            self._due.forget()  # one of them may be due again before anything else

    def _take_reports(self) -> None:
        reports = self._executor.take_reports()
        self._reports += reports
        for report in reports:
            if not isinstance(report.outcome, Succeeded):
                tell(report)
            if isinstance(report.outcome, Unresolved):
                self._misfits.note(report.grant, report.outcome.code)
        if reports and self._tick.claim.counts:
            self._appetite.wake()  # under a cap the end of a task makes room for the next

    def _ask(self) -> Asked | None:
        """What the next step is to do; None if there is nothing to do."""
        due = self._due.is_over()
        capacity = self._executor.capacity
        room = async_room = None
        if self._takes:
            settling = len(self._reports) + len(self._stragglers)
            room, async_room = self._appetite.rooms(capacity, settling, due=due)
        claimed = tuple(self._holdings.claimed)
        asked = Asked(
            reports=tuple(self._reports),
            release=() if self._takes else claimed,
            start=claimed[: capacity.free] if self._takes else (),
            room=room,
            async_room=async_room,
            promote=due and self._takes,
            unfit=self._misfits.unfit,
            careful=self._careful,
        )
        idle = not (asked.reports or asked.release or asked.start or asked.promote or asked.rooms)
        return None if idle else asked

    def _note(self, asked: Asked, got: Got) -> None:
        if got.lost:
            _log.warning("%d results came too late: others own the tasks now", got.lost)
        if asked.rooms:
            self._appetite.note(asked.room, got)
        if asked.promote and got.promoted:
            self._due.forget()
        elif asked.promote:
            self._due.snooze()

    def _hand_out(self, got: Got) -> None:
        self._holdings.wait(got.waiting)
        self._holdings.run(got.runnable)
        for grant in self._executor.submit(got.runnable):  # its place was taken meanwhile
            self._reports.append(RunReport(grant, Unbegun()))
            self._wake.set()

    async def _rest(self) -> None:
        """Until there is a reason to go on."""
        if self._wake.is_set() or self._ask() is not None:
            self._wake.clear()
            await asyncio.sleep(0)
            return
        if self._takes:
            await self._patience.through(self._due.look)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._seconds_to_rest, self._look_up)
        await self._wake.wait()
        timer.cancel()
        self._wake.clear()

    @property
    def _seconds_to_rest(self) -> float:
        """Who takes nothing need not be woken for what is due."""
        return (
            min(self._poll_seconds, self._due.seconds_left) if self._takes else self._poll_seconds
        )

    def _look_up(self) -> None:
        """A due time is over, or nothing was heard for so long that it is time to look."""
        self._appetite.wake()
        if not self._due.is_over():
            self._due.forget()
        self._wake.set()

    async def _clear_up(self) -> None:
        """A step whose end is unknown may have claimed tasks that nobody was told of."""
        async with self._unit_of_work() as tx:
            held = await tx.tasks.held_by(self._tick.worker)
        known = {grant.claim for grant in self._holdings}
        self._give_back([task for task in held if task.claim not in known])
        self._uncertain = False

    def _give_back(self, unheard: Sequence[Task]) -> None:
        self._holdings.wait(task for task in unheard if task.status is TaskStatus.CLAIMED)
        running = [task for task in unheard if task.status is TaskStatus.RUNNING]
        self._holdings.run(running)
        self._reports += [RunReport(task, Unbegun()) for task in running]
