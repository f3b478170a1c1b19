"""The engines that must keep the contract. Every law here runs unchanged against each of them."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Protocol
from uuid import UUID

import pytest

from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import VirtualClock, VirtualIds
from horsies.adapters.postgres.engine import PostgresEngine
from horsies.application.ports.completions import Completions
from horsies.application.ports.task_inbox import TaskInbox
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.outcome import Complete, Verdict
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
    clock: VirtualClock
    ids: VirtualIds
    elsewhere: "Elsewhere" = field(default=nullcontext, kw_only=True)
    """The same tasks through an engine for the loop of another thread."""

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
        tier = tuple(Share(queue, limit) for queue in queues)
        order = ClaimOrder(worker or self.worker, limit, (tier,), start, excluded)
        async with self.unit_of_work() as tx:
            return list(await tx.tasks.claim(order))

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


class Elsewhere(Protocol):
    def __call__(self, world: World) -> AbstractAsyncContextManager[World]: ...


def memory_world() -> World:
    clock = VirtualClock(START)
    engine = MemoryEngine(clock)
    return World(engine.unit_of_work, engine.inbox, engine.completions, clock, VirtualIds(clock))


@asynccontextmanager
async def postgres_world(dsn: str, **options: Any) -> AsyncGenerator[World]:
    clock = VirtualClock(START)
    link = link_to(dsn, **options)

    @asynccontextmanager
    async def elsewhere(world: World) -> AsyncGenerator[World]:
        engine = PostgresEngine(link, clock)
        try:
            yield replace(world, unit_of_work=engine.unit_of_work, inbox=engine.inbox)
        finally:
            await engine.aclose()

    engine = PostgresEngine(link, clock)
    try:
        yield World(
            engine.unit_of_work,
            engine.inbox,
            engine.completions,
            clock,
            VirtualIds(clock),
            elsewhere=elsewhere,
        )
    finally:
        await engine.aclose()


@pytest.fixture(params=["memory", *kinds()])
async def world(request: pytest.FixtureRequest, servers: Servers) -> AsyncGenerator[World]:
    if request.param == "memory":
        yield memory_world()
        return
    with servers.get(request.param).database() as dsn:
        async with postgres_world(dsn) as world:
            yield world
