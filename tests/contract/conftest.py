"""The engines that must keep the contract. Every law here runs unchanged against each of them."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Protocol
from uuid import UUID

import pytest

from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import VirtualClock, VirtualIds
from horsies.adapters.postgres.engine import PostgresEngine
from horsies.application.ports.completer import Completer
from horsies.application.ports.completions import Completions
from horsies.application.ports.executor import RunReport
from horsies.application.ports.task_inbox import TaskInbox
from horsies.application.ports.turn_over import TurnOver
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.outcome import Complete, Succeeded, Verdict
from horsies.domain.queue import DEFAULT_QUEUE, ClaimOrder, Share
from horsies.domain.sending import Accepted, Batch
from horsies.domain.settlement import Settlement, SettleReport
from horsies.domain.task import NewTask, Task
from horsies.domain.worker import Pulse, PulseAnswer, Worker
from tests.postgres import Servers, kinds, link_to

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE = timedelta(seconds=60)


@dataclass
class World:
    """An engine, the clock it lives by, and short words for what the laws do."""

    unit_of_work: UnitOfWork
    inbox: TaskInbox
    completions: Completions
    completer: Completer
    clock: VirtualClock
    ids: VirtualIds
    elsewhere: "Elsewhere" = field(default=nullcontext, kw_only=True)
    """The same tasks through an engine for the loop of another thread."""
    dsn: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._workers = count(1)
        self.worker = self.new_worker()

    def now(self) -> datetime:
        return self.clock.now()

    def pass_time(self, **duration: float) -> None:
        self.clock.advance(timedelta(**duration))

    def new_worker(self) -> WorkerId:
        return WorkerId(UUID(int=next(self._workers)))

    def new_task(self, name: str = "job", **fields: Any) -> NewTask:
        return NewTask(**{"id": self.ids.task_id(), "name": name, "queue": DEFAULT_QUEUE} | fields)

    def send(self, name: str = "job", **fields: Any) -> TaskId:
        task = self.new_task(name, **fields)
        receipts = self.inbox.accept(Batch(tasks=[task]))
        assert receipts == [Accepted(task.id)]
        return task.id

    async def claim(
        self,
        limit: int = 100,
        *,
        queues: tuple[str, ...] = (DEFAULT_QUEUE,),
        worker: WorkerId | None = None,
        start: bool = True,
        excluded: frozenset[str] = frozenset(),
    ) -> list[Task]:
        return await self.claim_by(
            self.order(limit, queues=queues, worker=worker, start=start, excluded=excluded)
        )

    async def claim_by(self, order: ClaimOrder) -> list[Task]:
        async with self.unit_of_work() as tx:
            return list(await tx.tasks.claim(order))

    def order(
        self,
        limit: int,
        *,
        queues: tuple[str, ...] = (DEFAULT_QUEUE,),
        worker: WorkerId | None = None,
        start: bool = True,
        excluded: frozenset[str] = frozenset(),
        in_line: int = 0,
        light: frozenset[str] = frozenset(),
    ) -> ClaimOrder:
        tier = tuple(Share(queue, max(limit, in_line)) for queue in queues)
        return ClaimOrder(worker or self.worker, limit, (tier,), start, excluded, in_line, light)

    async def claim_one(self, **options: Any) -> Task:
        tasks = await self.claim(1, **options)
        assert len(tasks) == 1
        return tasks[0]

    async def settle(
        self,
        task: Task,
        verdict: Verdict | None = None,
        result: bytes | None = b'{"ok":1}',
        **more: Any,
    ) -> SettleReport:
        settlement = Settlement(task.claim, verdict or Complete(), result, **more)
        async with self.unit_of_work() as tx:
            return await tx.tasks.settle([settlement])

    async def find(self, task_id: TaskId) -> Task:
        async with self.unit_of_work() as tx:
            return (await tx.archive.find([task_id]))[task_id]

    async def promote(self, limit: int = 100, queue: str = DEFAULT_QUEUE) -> int:
        async with self.unit_of_work() as tx:
            return await tx.tasks.promote([queue], limit)

    async def beat(self, worker: WorkerId | None = None, **claims: Any) -> PulseAnswer:
        async with self.unit_of_work() as tx:
            return await tx.workers.beat(Pulse(self.record(worker or self.worker), **claims), LEASE)

    def record(self, worker: WorkerId) -> Worker:
        return Worker(
            id=worker,
            name=f"w{worker.int}",
            hostname="stable",
            pid=1,
            queues=(DEFAULT_QUEUE,),
            started_at=self.now(),
            lease_until=self.now(),
        )


@dataclass
class QuickWorld(World):
    """The same through the step that nearly every task takes, as far as that can do it."""

    turn_over: TurnOver = field(kw_only=True)

    async def claim(self, limit: int = 100, *, start: bool = True, **options: Any) -> list[Task]:
        if not start:
            return await super().claim(limit, start=start, **options)
        turned = await self.turn_over((), self.order(limit, start=start, **options))
        return [grant.task for grant in turned.granted]

    async def claim_by(self, order: ClaimOrder) -> list[Task]:
        return [grant.task for grant in (await self.turn_over((), order)).granted]

    async def settle(
        self,
        task: Task,
        verdict: Verdict | None = None,
        result: bytes | None = b'{"ok":1}',
        **more: Any,
    ) -> SettleReport:
        if verdict is None and not more and result is not None:
            turned = await self.turn_over([RunReport(task, Succeeded(), result)], None)
            if not turned.unwritten:
                return SettleReport()
        return await super().settle(task, verdict, result, **more)


class Elsewhere(Protocol):
    def __call__(self, world: World) -> AbstractAsyncContextManager[World]: ...


def memory_world() -> World:
    clock = VirtualClock(START)
    engine = MemoryEngine(clock)
    return World(
        engine.unit_of_work,
        engine.inbox,
        engine.completions,
        engine.completer,
        clock,
        VirtualIds(clock),
    )


@asynccontextmanager
async def postgres_world(dsn: str, *, quick: bool = False, **options: Any) -> AsyncGenerator[World]:
    clock = VirtualClock(START)
    link = link_to(dsn, **options)

    @asynccontextmanager
    async def elsewhere(world: World) -> AsyncGenerator[World]:
        engine = PostgresEngine(link, clock)
        try:
            there = replace(world, unit_of_work=engine.unit_of_work, inbox=engine.inbox)
            yield replace(there, turn_over=engine.turn_over) if quick else there
        finally:
            await engine.aclose()

    engine = PostgresEngine(link, clock)
    try:
        kind = partial(QuickWorld, turn_over=engine.turn_over) if quick else World
        yield kind(
            engine.unit_of_work,
            engine.inbox,
            engine.completions,
            engine.completer,
            clock,
            VirtualIds(clock),
            elsewhere=elsewhere,
            dsn=dsn,
        )
    finally:
        await engine.aclose()


@pytest.fixture(params=["memory", *kinds(), "quick"])
async def world(request: pytest.FixtureRequest, servers: Servers) -> AsyncGenerator[World]:
    if request.param == "memory":
        yield memory_world()
        return
    quick = request.param == "quick"
    with servers.get("embedded" if quick else request.param).database() as dsn:
        async with postgres_world(dsn, quick=quick) as world:
            yield world
