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
from horsies.adapters.execution.child_line import read_unsent
from horsies.adapters.execution.endings import Endings
from horsies.adapters.execution.nursery_line import NurseryLine
from horsies.adapters.execution.outcomes import (
    SUCCEEDED,
    outcome_of_death,
    outcome_of_end,
    story_of_death,
)
from horsies.adapters.execution.overruns import Overruns
from horsies.adapters.execution.placing import Placing
from horsies.application.ports.executor import Capacity, Interruption, RunReport, Usage
from horsies.application.ports.grant import Grant
from horsies.application.ports.performer import Performer
from horsies.domain.backoff import exponential
from horsies.domain.errors import HorsiesError
from horsies.domain.outcome import Crashed, Outcome
from horsies.domain.progress import Progress
from horsies.domain.task import Claim

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

    `line_seconds` is the work that may stand in line in a child. A limit of 0 is none.
    """

    child_main: str
    setup: bytes
    processes: int
    start_method: str = "forkserver"
    concurrency: int = 16
    kill_grace_seconds: float = 5.0
    line_seconds: float = 0.0
    max_tasks: int = 0
    max_memory_bytes: int = 0


class ProcessPool:
    """`performer` is asked what kind of task each is; it runs none here."""

    def __init__(self, settings: PoolSettings, performer: Performer) -> None:
        self._settings = settings
        self._performer = performer
        self._children: dict[int, Child] = {}
        self._births = count(1)
        self._reports: list[RunReport] = []
        self._early_deaths = 0
        self._closing = False
        self._on_change: Callable[[], None] = _nothing
        self._opened: asyncio.Future[None] | None = None
        self._placing = Placing(
            self._children,
            performer,
            self._bear,
            self._dismiss,
            concurrency=settings.concurrency,
            line_seconds=settings.line_seconds,
            max_tasks=settings.max_tasks,
        )
        self._endings = Endings(settings.kill_grace_seconds, self._give_up)
        self._overruns = Overruns(
            self._children.values, settings.line_seconds, self._collect, self._endings.withdraw
        )
        self._progress: dict[Claim, Progress] = {}
        self._on_progress: Callable[[], None] = _nothing
        self._gone = asyncio.Event()

    async def open(self, on_change: Callable[[], None], on_progress: Callable[[], None]) -> None:
        """Until every child is ready; raises ChildStartError if one cannot be."""
        self._on_change = on_change
        self._on_progress = on_progress
        self._opened = asyncio.get_running_loop().create_future()
        self._start_nursery()
        try:
            await self._opened
        except BaseException:
            await self.close()
            raise

    @property
    def capacity(self) -> Capacity:
        return self._placing.capacity

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._children.values() if child.pid]

    def submit(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        left = self._placing.place(grants)
        self._overruns.watch()
        return left

    def interrupt(self, claims: Collection[Claim], why: Interruption) -> None:
        if not claims:
            return
        for child in list(self._children.values()):
            for held in list(child.held.values()):
                if held.grant.claim not in claims:
                    continue
                if why is Interruption.SILENT:  # whatever else it holds is as silent
                    child.kill()
                    break
                self._endings.end(child, held, _ENDS[why])

    def signs_of_life(self) -> Mapping[Claim, int]:
        return {
            held.grant.claim: child.page.pulse
            for child in self._children.values()
            for held in child.held.values()
        }

    def take_reports(self) -> Sequence[RunReport]:
        reports, self._reports = self._reports, []
        return reports

    def take_progress(self) -> Mapping[Claim, Progress]:
        progress, self._progress = self._progress, {}
        return progress

    async def close(self) -> None:
        """Who is idle leaves in good order, and has as long for it as a task that is cancelled."""
        self._closing = True
        self._overruns.close()
        leaving = [child for child in self._children.values() if child.ready and not child.held]
        for child in leaving:
            child.leave()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.kill_grace_seconds):
                while self._children.keys() & {child.birth for child in leaving}:
                    self._gone.clear()
                    await self._gone.wait()
        for child in self._children.values():
            child.close()
        self._children.clear()
        await self._nursery.close()

    def _start_nursery(self) -> None:
        self._nursery = NurseryLine(
            self._settings.child_main,
            self._settings.start_method,
            self._on_nursery_message,
            self._on_nursery_end,
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
        for child in list(self._children.values()):
            child.page.revoke(max(child.held, default=0))  # it may outlive its nursery by a moment
            if child.pid:
                _make_sure_it_is_dead(child.pid)
            self._on_death(child, -signal.SIGKILL, None, replace=False)
        if self._opened and not self._opened.done():
            story = "the process that starts children died before they were ready"
            self._opened.set_exception(ChildStartError(story))
            return
        _log.error("the process that starts children was killed; starting another")
        self._after_a_rest(self._start_nursery, young=self._nursery.age_seconds < A_LIFE_SECONDS)

    def _on_child_message(self, birth: int, message: wire.FromChild) -> None:
        child = self._children.get(birth)
        if child is None:
            return
        match message:
            case wire.Results(records):
                self._on_results(child, records)
            case wire.Ready():
                self._on_ready(child)
            case wire.Broken(report):
                self._on_broken(report)
            case wire.Begun(handle) if handle in child.held:
                self._on_begun(child, child.held[handle])
            case wire.Heard(handle) if handle in child.held:
                child.held[handle].heard = True
            case wire.Progressed(handle, fraction, note) if handle in child.held:
                self._progress[child.held[handle].grant.claim] = Progress(fraction, note)
                self._on_progress()
                return
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
        elif self._has_opened:  # else its siblings say the same
            _log.error("a new child could not load the app:\n%s", report)

    @property
    def _has_opened(self) -> bool:
        opened = self._opened
        return (
            opened is not None
            and opened.done()
            and not opened.cancelled()
            and not opened.exception()
        )

    def _on_begun(self, child: Child, held: Held) -> None:
        timeout = held.grant.terms.timeout
        if timeout is not None and held.asked_to_end is None:
            held.set_timer(
                timeout.total_seconds(), lambda: self._endings.end(child, held, End.TIMEOUT)
            )

    def _on_results(self, child: Child, records: Sequence[wire.Record]) -> None:
        """What is not held any more was given up before, or heard of twice."""
        runs: list[tuple[str, float]] = []
        for record in records:
            held = child.held.pop(record.handle, None)
            if held is None:
                continue
            child.runs += 1
            self._on_ended(held, record)
            if not held.is_async and not isinstance(record, wire.Skipped):
                runs.append((held.grant.name, record.seconds))
        if records:
            self._early_deaths = 0  # children do live here; it was the tasks that killed those
        self._placing.note(runs)
        self._after_a_run(child)

    def _collect(self, child: Child) -> None:
        """What it has made and not sent; when it is sent after all, it is heard of twice."""
        records = read_unsent(*child.page.unsent_meanwhile())
        if any(record.handle in child.held for record in records):
            self._on_results(child, records)
            self._on_change()

    def _on_ended(self, held: Held, record: wire.Record) -> None:
        held.stop_timer()
        if self._progress:
            self._progress.pop(held.grant.claim, None)
        if isinstance(record, wire.Done) and held.asked_to_end is not End.LOST:
            self._reports.append(RunReport(held.grant, SUCCEEDED, record.result))
            return
        outcome = outcome_of_end(record, held.asked_to_end)
        if outcome is not None:
            self._reports.append(_report_of(held, record, outcome))

    def _after_a_run(self, child: Child) -> None:
        if child.held:
            return
        if child.stuck:  # what is left in it has been settled, and does not listen
            child.kill()
        elif child.leaving or self._is_used_up(child):
            self._dismiss(child)

    def _dismiss(self, child: Child) -> None:
        """It may take its time to leave, but not for ever: its place is needed."""
        child.leave()
        asyncio.get_running_loop().call_later(self._settings.kill_grace_seconds, child.kill)

    def _is_used_up(self, child: Child) -> bool:
        settings = self._settings
        if settings.max_tasks and child.runs >= settings.max_tasks:
            return True
        return bool(settings.max_memory_bytes) and memory_of(child.pid) > settings.max_memory_bytes

    def _give_up(self, child: Child, held: Held) -> None:
        """Its child goes on, and is not listened to any more about this run."""
        child.held.pop(held.handle)
        held.stop_timer()
        self._report_death(held, begun=child.has_begun(held))
        self._after_a_run(child)
        self._on_change()

    def _on_death(
        self, child: Child, status: int, usage: Usage | None, *, replace: bool = True
    ) -> None:
        child.stream.drain()
        if self._children.pop(child.birth, None) is None:
            return
        self._gone.set()
        story = story_of_death(status)
        self._on_results(child, _last_words(child))
        runs = list(child.held.values())
        child.held.clear()
        for held in runs:
            held.stop_timer()
            self._report_death(held, begun=child.has_begun(held), story=story, usage=usage)
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
        age = asyncio.get_running_loop().time() - child.born_at
        self._after_a_rest(self._bear, young=age < A_LIFE_SECONDS)

    def _after_a_rest(self, start: Callable[[], object], *, young: bool) -> None:
        """Who dies young was killed by its own start, or by what it is given: that may go on."""
        self._early_deaths = self._early_deaths + 1 if young else 0
        if not self._early_deaths:
            start()
            return

        def start_unless_closing() -> None:
            if not self._closing:
                start()

        rest = exponential(FIRST_REST, self._early_deaths - 1, LONGEST_REST, 0.5)
        asyncio.get_running_loop().call_later(rest.total_seconds(), start_unless_closing)

    def _report_death(
        self, held: Held, *, begun: bool, story: str = "", usage: Usage | None = None
    ) -> None:
        outcome = outcome_of_death(held, begun=begun)
        if outcome is None:
            return
        if self._progress:
            self._progress.pop(held.grant.claim, None)
        detail = f"the process that ran the task {story}" if outcome == Crashed() else None
        self._reports.append(RunReport(held.grant, outcome, detail=detail, usage=usage))


def _last_words(child: Child) -> list[wire.Record]:
    """A task may have written anywhere in the memory of its process."""
    try:
        return read_unsent(*child.page.unsent())
    except ValueError:
        _log.exception("what child %d has left cannot be read", child.pid)
        return []


def _report_of(held: Held, record: wire.Record, outcome: Outcome) -> RunReport:
    if isinstance(record, wire.Ended):
        return RunReport(held.grant, outcome, record.result, record.detail)
    return RunReport(held.grant, outcome, record.result if isinstance(record, wire.Done) else None)


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
