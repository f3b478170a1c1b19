"""An engine in memory with a virtual clock, run by the test itself."""

from collections.abc import Coroutine, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, TypeVar

from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import EvenDice, VirtualClock, VirtualIds
from horsies.application.definition import Ran
from horsies.application.ports.codec import Codec
from horsies.application.ports.unit_of_work import Transaction
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.application.usecases.enqueue_tasks import SendGate
from horsies.application.usecases.perform_task import Performed, Prepared
from horsies.application.usecases.settle_tasks import RunReport
from horsies.domain.queue import Room
from horsies.domain.task import Task as TaskRow
from horsies.entrypoints.bridge import LoopThread, drive, driven
from horsies.entrypoints.container import Container
from horsies.entrypoints.runtime import Runtime
from horsies.entrypoints.task import Task
from horsies.entrypoints.testing.completions import SandboxCompletions
from horsies.entrypoints.testing.inbox import RecordingInbox
from horsies.entrypoints.testing.sent import SentTask, no_such_send, read_sent

MOST_RUNS = 10_000
"""Runs in one drain before it is taken for a task that sends itself for ever."""

T = TypeVar("T")

_depth: ContextVar[int] = ContextVar("horsies_sandbox_depth", default=0)
"""How many runs the asking code is itself a part of."""

_ONE_AT_A_TIME = Room(free_slots=1)
_ALL_DUE = 1_000_000


class Sandbox:
    """What `app.testing()` gives. Tasks run here, on the caller's thread, one after another."""

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
        self._inbox = RecordingInbox(self._engine.inbox)
        self._registry = registry
        self._loop_thread = LoopThread()
        self._turn = Lock()
        self._running = 0
        ids = VirtualIds(self._clock)
        container = Container(
            config=config,
            registry=registry,
            gate=gate,
            codec=codec,
            clock=self._clock,
            dice=EvenDice(),
            ids=ids,
            unit_of_work=self._engine.unit_of_work,
            inbox=self._inbox,
            completions=SandboxCompletions(
                self._engine.completions, self.drain_async, self._others_at_work
            ),
            run_sync=self._in_turn,
        )
        self.runtime: Runtime = container.runtime()
        self._claim, self._perform = container.claim(), container.perform()
        self._settle, self._reap = container.settle(), container.reap()
        self._worker = ids.worker_id()
        self._queues = [queue.name for queue in config.queues()]

    @property
    def now(self) -> datetime:
        """The present of the virtual clock."""
        return self._clock.now()

    def drain(self, max_runs: int = MOST_RUNS) -> int:
        """Run everything that is due now, also what that sends; gives the number of runs."""
        return self._in_turn(self.drain_async(max_runs))

    async def drain_async(self, max_runs: int = MOST_RUNS) -> int:
        await self._reap.expire()
        await self._reap.reject_unresolved()
        reports: list[RunReport] = []
        for runs in range(max_runs):
            claimed = await self._settle_and_claim(reports)
            if not claimed:
                return runs
            reports = [await self._run(task) for task in claimed]
        await self._settle_only(reports)
        async with self._engine.unit_of_work() as tx:
            if await self._claim_due(tx):
                raise _endless(max_runs)  # which undoes this last claim
        return max_runs

    def advance(self, by: timedelta | None = None, /, **duration: float) -> int:
        """Let time pass, as `advance(hours=3)`: what falls due on the way runs at its instant."""
        return self._in_turn(self.advance_async(by, **duration))

    async def advance_async(self, by: timedelta | None = None, /, **duration: float) -> int:
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
        await self._reap.purge()
        return runs

    def sent(self, task: "str | Task[..., Any] | None" = None) -> list[SentTask]:
        """What was sent so far, oldest first; by one task if it is given."""
        name = task.name if isinstance(task, Task) else task
        everything = [read_sent(new, self._registry) for new in self._inbox.sent]
        return [sent for sent in everything if name in (None, sent.name)]

    def assert_sent(self, task: "str | Task[..., Any]", /, **arguments: Any) -> SentTask:
        """The latest send of this task with (at least) these arguments; fails if there is none."""
        sent = self.sent(task)
        for candidate in reversed(sent):
            if candidate.has(arguments):
                return candidate
        raise no_such_send(task, arguments, sent)

    def assert_not_sent(self, task: "str | Task[..., Any]", /, **arguments: Any) -> None:
        found = [sent for sent in self.sent(task) if sent.has(arguments)]
        if found:
            raise AssertionError(f"{len(found)} unexpected: {found}")

    @contextmanager
    def outage(self) -> Generator[None]:
        """Inside, no send reaches the queue: they fail with ENQUEUE_FAILED."""
        self._inbox.reachable = False
        try:
            yield
        finally:
            self._inbox.reachable = True

    def close(self) -> None:
        self._loop_thread.close()

    async def _settle_and_claim(self, reports: Sequence[RunReport]) -> Sequence[TaskRow]:
        """One durable tick: what has ended is written, what is due is taken."""
        async with self._engine.unit_of_work() as tx:
            await self._settle(tx, reports)
            return await self._claim_due(tx)

    async def _settle_only(self, reports: Sequence[RunReport]) -> None:
        async with self._engine.unit_of_work() as tx:
            await self._settle(tx, reports)

    async def _claim_due(self, tx: Transaction) -> Sequence[TaskRow]:
        await tx.tasks.promote(self._queues, _ALL_DUE)
        return await self._claim(tx, self._worker, _ONE_AT_A_TIME)

    def _in_turn(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """One thread at a time; what runs within another's turn belongs to it."""
        if driven.get():
            return drive(coroutine)
        with self._turn:
            return drive(coroutine)

    async def _run(self, task: TaskRow) -> RunReport:
        prepared = self._perform.prepare(task.name, task.payload)
        if isinstance(prepared, Performed):
            return RunReport(task, prepared.outcome, prepared.result, prepared.detail)
        with self._counted():
            ran = await self._call(prepared)
        performed = self._perform.conclude(prepared.definition, ran)
        return RunReport(task, performed.outcome, performed.result, performed.detail)

    async def _call(self, prepared: Prepared) -> Ran:
        if not prepared.definition.is_async:
            return prepared.run()
        if driven.get():  # nobody can wait on this thread: the loop thread does
            return self._loop_thread.run(prepared.run_async())
        return await prepared.run_async()

    @contextmanager
    def _counted(self) -> Generator[None]:
        token = _depth.set(_depth.get() + 1)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            _depth.reset(token)

    def _others_at_work(self) -> bool:
        return self._running > _depth.get()

    async def _next_due(self) -> datetime | None:
        async with self._engine.unit_of_work() as tx:
            return await tx.tasks.next_due(self._queues)


def _endless(max_runs: int) -> RuntimeError:
    return RuntimeError(
        f"{max_runs} tasks have run and there is still work: does a task send itself? "
        "Give drain(max_runs=...) a higher limit if this is meant"
    )
