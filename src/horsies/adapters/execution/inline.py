"""Tasks in the worker itself: async ones on its loop, sync ones in threads.

The cheapest way to run what mostly waits. Nothing here can be killed: a timeout or a cancel reaches
async tasks alone, and a task that takes the process down takes the worker with it.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from traceback import format_exc

from horsies.application.ports.executor import Capacity, Interruption, RunReport
from horsies.application.ports.grant import Grant
from horsies.application.ports.performer import Job, Performed, Performer
from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode
from horsies.domain.errors import HorsiesError
from horsies.domain.outcome import Errored, Interrupted, Outcome, ShutDown
from horsies.domain.progress import Progress
from horsies.domain.task import Claim


class AppStartError(HorsiesError):
    """The app's lifespan could not be entered; the message is its own report."""


@dataclass(slots=True)
class Inline:
    """One run, and its supervision."""

    grant: Grant
    runner: asyncio.Task[None] | None = None
    why: Interruption | None = None
    timed_out: bool = False
    on_begin: Callable[[], None] = field(default=lambda: None)
    on_progress: Callable[["Inline", Progress], None] = field(default=lambda _, __: None)

    def begin(self) -> None:
        self.on_begin()

    def progress(self, fraction: float, note: str | None) -> None:
        self.on_progress(self, Progress(fraction, note))

    def is_cancelled(self) -> bool:
        return self.why is not None or self.timed_out


class InlineExecutor:
    def __init__(self, performer: Performer, concurrency: int) -> None:
        self._performer = performer
        self._concurrency = concurrency
        self._running: dict[int, Inline] = {}
        self._reports: list[RunReport] = []
        self._closing = False
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="horsies-task")
        self._progress: dict[Claim, Progress] = {}
        self._on_change: Callable[[], None] = lambda: None
        self._on_progress: Callable[[], None] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self, on_change: Callable[[], None], on_progress: Callable[[], None]) -> None:
        self._on_change = on_change
        self._on_progress = on_progress
        self._loop = asyncio.get_running_loop()
        try:
            await self._performer.open()
        except Exception:  # noqa: BLE001 - told like the failure of a child
            raise AppStartError(format_exc()) from None

    @property
    def capacity(self) -> Capacity:
        return Capacity(free=self._concurrency - len(self._running))

    def submit(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        places = self.capacity.free
        for grant in grants[:places]:
            inline = Inline(grant, on_progress=self._note)
            self._running[id(inline)] = inline
            inline.runner = asyncio.create_task(self._run(inline))
        return grants[places:]

    def interrupt(self, claims: Collection[Claim], why: Interruption) -> None:
        for inline in list(self._running.values()) if claims else ():
            if inline.grant.claim not in claims:
                continue
            inline.why = why
            if inline.runner is not None and self._performer.is_async(inline.grant.name):
                inline.runner.cancel()
            elif why is not Interruption.CANCEL:  # its thread goes on, and nobody listens
                self._end(inline, None)

    def take_reports(self) -> Sequence[RunReport]:
        reports, self._reports = self._reports, []
        return reports

    def signs_of_life(self) -> Mapping[Claim, int]:
        """There is no process but the worker's."""
        return {}

    def take_progress(self) -> Mapping[Claim, Progress]:
        progress, self._progress = self._progress, {}
        return progress

    async def close(self) -> None:
        """Threads cannot be ended; the process does not wait for them."""
        self._closing = True
        runners = [inline.runner for inline in self._running.values() if inline.runner]
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._performer.close()

    def _note(self, inline: Inline, progress: Progress) -> None:
        """Told by threads, too, which may outlive the loop."""
        if id(inline) in self._running and self._loop is not None:
            self._progress[inline.grant.claim] = progress
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._on_progress)

    async def _run(self, inline: Inline) -> None:
        performed = None
        try:
            performed = await self._perform(inline)
        except asyncio.CancelledError:
            if self._closing:
                raise
        except BaseException as error:  # noqa: BLE001 - it must not take the worker with it
            detail = f"the task raised {type(error).__name__}"
            performed = Performed(Errored(OperationalErrorCode.UNHANDLED_EXCEPTION), detail=detail)
        self._end(inline, performed)

    async def _perform(self, inline: Inline) -> Performed:
        task = inline.grant
        job = Job.of(task)
        loop = asyncio.get_running_loop()
        if not self._performer.is_async(task.name):
            return await loop.run_in_executor(self._threads, self._performer.run, job, inline)
        timer: asyncio.TimerHandle | None = None
        timeout = task.terms.timeout
        runner = asyncio.current_task()

        def time_out() -> None:
            inline.timed_out = True
            if runner is not None:
                runner.cancel()

        if timeout is not None:
            timer = loop.call_later(timeout.total_seconds(), time_out)
        try:
            return await self._performer.run_async(job, inline)
        finally:
            if timer is not None:
                timer.cancel()

    def _end(self, inline: Inline, performed: Performed | None) -> None:
        if self._running.pop(id(inline), None) is None:
            return
        if inline.why is not Interruption.LOST:
            self._reports.append(
                RunReport(inline.grant, _outcome(inline))
                if performed is None
                else RunReport(inline.grant, performed.outcome, performed.result, performed.detail)
            )
        self._on_change()


def _outcome(inline: Inline) -> Outcome:
    if inline.why is Interruption.SHUTDOWN:
        return ShutDown()
    if inline.timed_out:
        return Errored(OutcomeErrorCode.TASK_TIMEOUT)
    if inline.why is None:  # it has cancelled itself
        return Errored(OperationalErrorCode.UNHANDLED_EXCEPTION)
    return Interrupted()
