"""An engine in memory with a virtual clock, run by the test itself."""

from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import EvenDice, VirtualClock, VirtualIds
from horsies.application.definition import TaskDefinition
from horsies.application.ports.codec import Codec
from horsies.application.ports.executor import RunReport
from horsies.application.ports.performer import Job, Performed, Supervision
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.domain.errors import BrokerError
from horsies.domain.outcome import ShutDown, Unbegun
from horsies.domain.queue import Room
from horsies.domain.task import Task as TaskRow
from horsies.entrypoints.bridge import LoopThread, drive, driven, here
from horsies.entrypoints.container import Container
from horsies.entrypoints.runtime import Runtime
from horsies.entrypoints.task import Task
from horsies.entrypoints.testing.board import RunBoard
from horsies.entrypoints.testing.completions import MOST_RUNS, SandboxCompletions, endless
from horsies.entrypoints.testing.outage import BreakableInbox, BreakableUnitOfWork, Outage
from horsies.entrypoints.testing.sent import SentTask, no_such_send, read_sent, unwanted_send
from horsies.entrypoints.testing.supervision import SandboxSupervision

_ONE_AT_A_TIME = Room(free_slots=1)
_ALL_DUE = 1_000_000
_A_FEW = 1_000  # runs before whoever waits looks whether it has what it wants


class Sandbox:
    """What `app.testing()` gives. Tasks run where they are asked for: on the caller's thread."""

    def __init__(
        self,
        config: AppConfig,
        registry: TaskRegistry,
        codec: Codec,
        gate: SendGate,
        start: datetime | None = None,
    ) -> None:
        self._clock = VirtualClock(start or datetime.now(UTC))
        self._engine = MemoryEngine(self._clock)
        self._outage = Outage()
        self._unit_of_work = BreakableUnitOfWork(self._engine.unit_of_work, self._outage)
        self._registry = registry
        self._loop_thread = LoopThread()
        self._board = RunBoard()
        self._unsettled: list[RunReport] = []
        ids = VirtualIds(self._clock)
        container = Container(
            config=config,
            registry=registry,
            gate=gate,
            codec=codec,
            clock=self._clock,
            dice=EvenDice(),
            ids=ids,
            unit_of_work=self._unit_of_work,
            inbox=BreakableInbox(self._engine.inbox, self._outage),
            completer=self._engine.completer,
            completions=SandboxCompletions(self._make_progress, self._board),
            run_sync=drive,
            run_async=here,
        )
        self.runtime: Runtime = container.runtime()
        self._claim, self._perform = container.claim(), container.perform()
        self._settle, self._reap = container.settle(), container.reap()
        self._lifespan = container.lifespan()
        self._leave_lifespan: Callable[[], None] = _nothing
        self._worker = ids.worker_id()
        self._queues = [queue.name for queue in config.queues()]

    @property
    def now(self) -> datetime:
        """The present of the virtual clock."""
        return self._clock.now()

    def drain(self, max_runs: int = MOST_RUNS) -> int:
        """Run everything that is due now, also what that sends; gives the number of runs."""
        return drive(self.drain_async(max_runs))

    async def drain_async(self, max_runs: int = MOST_RUNS) -> int:
        await self._end_overdue()
        runs = await self._run_due(max_runs)
        if runs == max_runs:
            async with self._unit_of_work() as tx:
                if await self._claim(tx, self._worker, _ONE_AT_A_TIME):
                    raise endless(max_runs)  # which undoes this last claim
        return runs

    def advance(self, by: timedelta | None = None, /, **duration: float) -> int:
        """Let time pass, as `advance(hours=3)`: what falls due on the way runs at its instant."""
        return drive(self.advance_async(by, **duration))

    async def advance_async(self, by: timedelta | None = None, /, **duration: float) -> int:
        if by is not None and not isinstance(by, timedelta):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise TypeError("advance takes a timedelta, or names such as hours=3")
        span = timedelta(**duration) + (by or timedelta(0))
        if span < timedelta(0):
            raise ValueError("time does not run backwards")
        target = self._clock.now() + span
        runs = await self.drain_async()
        while (due := await self._next_due()) is not None and due <= target:
            self._clock.advance_to(due)
            runs += await self.drain_async()
        self._clock.advance_to(target)
        runs += await self.drain_async()
        while await self._reap.purge():
            pass
        return runs

    def sent(self, task: "str | Task[..., Any] | None" = None) -> list[SentTask]:
        """What was sent so far, oldest first; by one task if it is given.

        Failure handlers and retries by hand are sends too.
        """
        name = None if task is None else self._definition_of(task).name
        everything = [read_sent(new, self._registry) for new in self._engine.sent]
        return [sent for sent in everything if name in (None, sent.name)]

    def assert_sent(self, task: "str | Task[..., Any]", /, **arguments: Any) -> SentTask:
        """The latest send of this task with (at least) these arguments; fails if there is none."""
        __tracebackhide__ = True
        found = self._matching(task, arguments)
        if not found:
            raise no_such_send(task, arguments, self.sent(task))
        return found[-1]

    def assert_not_sent(self, task: "str | Task[..., Any]", /, **arguments: Any) -> None:
        """Fails if this task was sent with (at least) these arguments."""
        __tracebackhide__ = True
        found = self._matching(task, arguments)
        if found:
            raise unwanted_send(task, found)

    @contextmanager
    def outage(self) -> Generator[None]:
        """Inside, the database is away: sends fail with ENQUEUE_FAILED, `get` with BROKER_ERROR."""
        outer, self._outage.on = self._outage.on, True
        try:
            yield
        finally:
            self._outage.on = outer

    def close(self) -> None:
        try:
            self._leave_lifespan()
        finally:
            self._loop_thread.close()

    def _matching(self, task: "str | Task[..., Any]", arguments: dict[str, Any]) -> list[SentTask]:
        definition = self._definition_of(task)
        unknown = arguments.keys() - {known.name for known in definition.signature.parameters}
        if unknown:
            raise ValueError(f"task {definition.name!r} has no parameter {min(unknown)!r}")
        return [sent for sent in self.sent(task) if sent.has(arguments)]

    def _definition_of(self, task: "str | Task[..., Any]") -> TaskDefinition:
        name = task.name if isinstance(task, Task) else task
        definition = self._registry.find(name)
        if definition is None:
            raise ValueError(f"there is no task named {name!r}")
        return definition

    async def _make_progress(self) -> int:
        """How many tasks have moved: settled late, run, expired, or given up as unknown."""
        late = len(self._unsettled)
        return late + await self._end_overdue() + await self._run_due(_A_FEW)

    async def _run_due(self, max_runs: int) -> int:
        for runs in range(max_runs):
            claimed = await self._claim_due()
            if not claimed:
                return runs
            for task in claimed:
                await self._run(task)
        return max_runs

    async def _end_overdue(self) -> int:
        ended = 0
        while moved := await self._reap.expire() + await self._reap.reject_unresolved():
            ended += moved
        return ended

    async def _claim_due(self) -> Sequence[TaskRow]:
        async with self._unit_of_work() as tx:
            late = tuple(self._unsettled)
            await self._settle(tx, late)
            await tx.tasks.promote(self._queues, _ALL_DUE)
            claimed = await self._claim(tx, self._worker, _ONE_AT_A_TIME)
        del self._unsettled[: len(late)]
        return claimed

    async def _run(self, task: TaskRow) -> None:
        """Run a task and write what came of it; in an outage that is done later."""
        with self._board.run():
            report = await self._perform_one(task)
            try:
                async with self._unit_of_work() as tx:
                    await self._settle(tx, [report])
            except BrokerError:
                self._unsettled.append(report)
                raise

    async def _perform_one(self, task: TaskRow) -> RunReport:
        try:
            await self._enter_lifespan()
        except BaseException:
            async with self._unit_of_work() as tx:
                await self._settle(tx, [RunReport(task, Unbegun())])
            raise
        try:
            performed = await self._call(Job.of(task), self._supervision(task))
        except BaseException:  # the test itself is stopped: to the task that is a shutdown
            self._unsettled.append(RunReport(task, ShutDown()))
            raise
        return RunReport(task, performed.outcome, performed.result, performed.detail)

    async def _call(self, job: Job, supervision: Supervision) -> Performed:
        if not self._perform.is_async(job.name):
            return self._perform.run(job, supervision)
        running = self._perform.run_async(job, supervision)
        if driven.get():  # nobody can wait on this thread: the loop thread does
            return self._loop_thread.run(_on_a_loop(running))
        return await running

    def _supervision(self, task: TaskRow) -> Supervision:
        return SandboxSupervision(self._engine.unit_of_work, task.claim)

    async def _enter_lifespan(self) -> None:
        """With the first task, on the loop on which async ones run."""
        if self._lifespan.is_entered:
            return
        if driven.get():
            self._leave_lifespan = lambda: self._loop_thread.run(self._lifespan.leave())
            self._loop_thread.run(self._lifespan.enter())
        else:
            self._leave_lifespan = self._lifespan.leave_soon
            await self._lifespan.enter()

    async def _next_due(self) -> datetime | None:
        async with self._unit_of_work() as tx:
            return await tx.tasks.next_due(self._queues)


def _nothing() -> None:
    """There is no lifespan that was entered."""


async def _on_a_loop(running: Coroutine[Any, Any, Performed]) -> Performed:
    driven.set(False)  # here one may wait; the context is this run's own
    return await running
