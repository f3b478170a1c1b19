"""Tasks in child processes, each supervised by itself."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import psutil

from horsies.adapters.execution import wire
from horsies.adapters.execution.child import Child, End, Held, bear
from horsies.adapters.execution.nursery_line import NurseryLine
from horsies.adapters.execution.outcomes import outcome_of_death, outcome_of_end, story_of_death
from horsies.application.ports.executor import Capacity, Interruption, RunReport, Usage
from horsies.application.ports.performer import Performer
from horsies.domain.backoff import exponential
from horsies.domain.errors import HorsiesError
from horsies.domain.outcome import Crashed
from horsies.domain.task import Claim, Task

FIRST_REST = timedelta(milliseconds=100)
LONGEST_REST = timedelta(seconds=30)
A_LIFE_SECONDS = 5.0
"""A child that dies younger than this was killed by its own start, or by what it is given."""

_log = logging.getLogger("horsies.worker")
_ENDS = {
    Interruption.CANCEL: End.CANCEL,
    Interruption.SHUTDOWN: End.SHUTDOWN,
    Interruption.LOST: End.LOST,
}


class ChildStartError(HorsiesError):
    """A child could not load the app; the message is its own report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """`child_main` is what a child runs, as package.module:function, and `setup` what it is told.

    A limit of 0 is none.
    """

    child_main: str
    setup: bytes
    processes: int
    concurrency: int = 16
    kill_grace_seconds: float = 5.0
    max_tasks: int = 0
    max_memory_bytes: int = 0


class ProcessPool:
    """`performer` is asked which tasks are async; it runs none here."""

    def __init__(self, settings: PoolSettings, performer: Performer) -> None:
        self._settings = settings
        self._performer = performer
        self._children: dict[int, Child] = {}
        self._handles = count(1)
        self._births = count(1)
        self._by_claim: dict[Claim, tuple[Child, Held]] = {}
        self._reports: list[RunReport] = []
        self._early_deaths = 0
        self._closing = False
        self._on_change: Callable[[], None] = _nothing
        self._opened: asyncio.Future[None] | None = None
        self.progress: dict[Claim, tuple[float, str | None]] = {}

    async def open(self, on_change: Callable[[], None]) -> None:
        """Until every child is ready; raises ChildStartError if one cannot be."""
        self._on_change = on_change
        self._opened = asyncio.get_running_loop().create_future()
        self._start_nursery()
        try:
            await self._opened
        except BaseException:
            await self.close()
            raise

    @property
    def capacity(self) -> Capacity:
        children = self._children.values()
        return Capacity(
            sum(child.is_free for child in children),
            sum(child.async_room(self._settings.concurrency) for child in children),
        )

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._children.values() if child.pid]

    def submit(self, tasks: Sequence[Task]) -> Sequence[Task]:
        return [task for task in tasks if not self._place(task)]

    def interrupt(self, claims: Collection[Claim], why: Interruption) -> None:
        for claim in claims:
            if claim not in self._by_claim:
                continue
            child, held = self._by_claim[claim]
            if why is Interruption.SILENT:
                child.kill()
            else:
                self._ask_to_end(child, held, _ENDS[why])

    def signs_of_life(self) -> Mapping[Claim, int]:
        return {claim: child.page.pulse for claim, (child, _) in self._by_claim.items()}

    def take_reports(self) -> Sequence[RunReport]:
        reports, self._reports = self._reports, []
        return reports

    async def close(self) -> None:
        self._closing = True
        for child in self._children.values():
            child.close()
        self._children.clear()
        await self._nursery.close()

    def _place(self, task: Task) -> bool:
        is_async = self._performer.is_async(task.name)
        child = self._place_for(task, is_async=is_async)
        if child is None:
            return False
        held = Held(next(self._handles), task, is_async)
        child.alone = task.crashes > 0
        self._by_claim[task.claim] = (child, held)
        child.run(held)
        return True

    def _place_for(self, task: Task, *, is_async: bool) -> Child | None:
        """A task that has killed its process before gets one of its own."""
        if is_async and task.crashes == 0:
            concurrency = self._settings.concurrency
            shared = [child for child in self._children.values() if child.async_room(concurrency)]
            if shared:
                return min(shared, key=lambda child: len(child.held))
        free = (child for child in self._children.values() if child.is_free)
        if not self._performer.needs_fresh(task.name):
            return next(free, None)
        child = min(free, key=lambda child: child.runs, default=None)
        return None if child is None else self._unused(child)

    def _unused(self, child: Child) -> Child:
        """This one if it has run nothing yet, else a new one in its place; used for one run."""
        if child.runs:
            child.replaced = True
            child.leave()
            child = self._bear()
        child.leaving = True
        return child

    def _start_nursery(self) -> None:
        self._nursery = NurseryLine(
            self._settings.child_main, self._on_nursery_message, self._on_nursery_end
        )
        for _ in range(self._settings.processes):
            self._bear()

    def _bear(self) -> Child:
        birth = next(self._births)
        child = bear(
            self._nursery,
            birth,
            self._settings.setup,
            lambda message: self._on_child_message(birth, message),
        )
        self._children[birth] = child
        return child

    def _on_nursery_message(self, message: wire.FromNursery) -> None:
        child = self._children.get(message.birth)
        if child is None:
            return
        match message:
            case wire.Born(_, pid):
                child.pid = pid
            case wire.Died(_, status, cpu_seconds, peak_memory):
                used = cpu_seconds - child.page.cpu_at_begin
                self._on_death(child, status, Usage(round(used, 3), peak_memory))

    def _on_nursery_end(self) -> None:
        """Its children are gone with it; another takes its place."""
        if self._closing:
            return
        _log.error("the process that starts children was killed; starting another")
        for child in list(self._children.values()):
            _make_sure_it_is_dead(child.pid)
            self._on_death(child, -signal.SIGKILL, None, replace=False)
        self._start_nursery()

    def _on_child_message(self, birth: int, message: wire.FromChild) -> None:
        child = self._children.get(birth)
        if child is None:
            return
        match message:
            case wire.Ready():
                self._on_ready(child)
            case wire.Broken(report):
                self._on_broken(report)
            case wire.Begun(handle):
                self._on_begun(child, handle)
            case wire.Heard(handle) if handle in child.held:
                child.held[handle].heard = True
            case wire.Progressed(handle, fraction, note) if handle in child.held:
                self.progress[child.held[handle].task.claim] = (fraction, note)
            case wire.Ended() | wire.Skipped() if message.handle in child.held:
                self._on_ended(child, message)
            case _:  # of a run that was given up before
                pass
        self._on_change()

    def _on_ready(self, child: Child) -> None:
        child.ready = True
        all_ready = all(each.ready for each in self._children.values())
        if all_ready and self._opened and not self._opened.done():
            self._opened.set_result(None)

    def _on_broken(self, report: str) -> None:
        if self._opened and not self._opened.done():
            self._opened.set_exception(ChildStartError(report))
        else:
            _log.error("a new child could not load the app:\n%s", report)

    def _on_begun(self, child: Child, handle: int) -> None:
        held = child.held.get(handle)
        if held is None:
            return
        held.begun = True
        timeout = held.task.terms.timeout
        if timeout is not None and held.asked_to_end is None:
            held.set_timer(
                timeout.total_seconds(), lambda: self._ask_to_end(child, held, End.TIMEOUT)
            )

    def _on_ended(self, child: Child, message: wire.Ended | wire.Skipped) -> None:
        held = self._forget(child, message.handle)
        child.runs += 1
        outcome = outcome_of_end(message, held.asked_to_end)
        if outcome is not None:
            result = message.result if isinstance(message, wire.Ended) else None
            detail = message.detail if isinstance(message, wire.Ended) else None
            self._reports.append(RunReport(held.task, outcome, result, detail))
        self._after_a_run(child)

    def _after_a_run(self, child: Child) -> None:
        if child.held:
            return
        child.alone = False
        if child.stuck:  # what is left in it has been settled, and does not listen
            child.kill()
        elif child.leaving or self._is_used_up(child):
            child.leave()

    def _is_used_up(self, child: Child) -> bool:
        settings = self._settings
        if settings.max_tasks and child.runs >= settings.max_tasks:
            return True
        return bool(settings.max_memory_bytes) and memory_of(child.pid) > settings.max_memory_bytes

    def _ask_to_end(self, child: Child, held: Held, why: End) -> None:
        """A timeout or a cancel is told to the task first; nothing else is worth the wait."""
        if held.asked_to_end is None or why in {End.SHUTDOWN, End.LOST}:
            held.asked_to_end = why
        if not held.begun:
            child.page.revoke(held.handle)
            return
        kindly = why in {End.TIMEOUT, End.CANCEL} or (held.is_async and why is End.LOST)
        if not kindly:
            child.kill()
            return
        child.ask_to_end(held)
        grace = self._settings.kill_grace_seconds
        held.set_timer(grace, lambda: self._end_by_force(child, held))

    def _end_by_force(self, child: Child, held: Held) -> None:
        """Others of its loop are spared if the loop still turns."""
        if not (held.is_async and held.heard):
            child.kill()
            return
        self._forget(child, held.handle)
        self._report_death(held)
        child.leaving = child.stuck = True
        self._after_a_run(child)
        self._on_change()

    def _on_death(
        self, child: Child, status: int, usage: Usage | None, *, replace: bool = True
    ) -> None:
        child.stream.drain()
        if self._children.pop(child.birth, None) is None:
            return
        story = story_of_death(status)
        for handle in list(child.held):
            self._report_death(self._forget(child, handle), story, usage)
        child.close()
        if replace and not self._closing and not child.replaced:
            self._replace(child, story)
        self._on_change()

    def _replace(self, child: Child, story: str) -> None:
        if child.leaving:
            self._bear()
            return
        _log.warning("child %d %s", child.pid, story)
        if self._opened and not self._opened.done():
            self._opened.set_exception(ChildStartError(f"a child {story} before it was ready"))
            return
        loop = asyncio.get_running_loop()
        young = loop.time() - child.born_at < A_LIFE_SECONDS
        self._early_deaths = self._early_deaths + 1 if young else 0
        if not self._early_deaths:
            self._bear()
            return
        rest = exponential(FIRST_REST, self._early_deaths - 1, LONGEST_REST, 0.5)
        loop.call_later(rest.total_seconds(), self._bear_unless_closing)

    def _bear_unless_closing(self) -> None:
        if not self._closing:
            self._bear()

    def _forget(self, child: Child, handle: int) -> Held:
        held = child.held.pop(handle)
        held.stop_timer()
        self._by_claim.pop(held.task.claim, None)
        self.progress.pop(held.task.claim, None)
        return held

    def _report_death(self, held: Held, story: str = "", usage: Usage | None = None) -> None:
        outcome = outcome_of_death(held)
        if outcome is None:
            return
        detail = f"the process that ran the task {story}" if outcome == Crashed() else None
        self._reports.append(RunReport(held.task, outcome, detail=detail, usage=usage))


def memory_of(pid: int) -> int:
    """In bytes; 0 of a process that is gone."""
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _make_sure_it_is_dead(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def _nothing() -> None:
    """Nobody asks yet."""
