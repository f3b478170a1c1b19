"""Everybody at the same tasks: locks are taken in one order, so that nobody is sent away."""

import asyncio
from random import Random

import pytest
from psycopg import sql

from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Complete, Fail, RetryAt
from horsies.domain.sending import Batch
from horsies.domain.settlement import Settlement
from tests.contract.conftest import postgres_world

ROUNDS = 60
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


@pytest.fixture
def dsn(own_dsn):
    return own_dsn


@pytest.fixture
async def world(dsn, onlooker):
    """Deadlocks are found before anybody gives up waiting."""
    name = sql.Identifier(onlooker.info.dbname)
    onlooker.execute(sql.SQL("ALTER DATABASE {} SET deadlock_timeout = '20ms'").format(name))
    async with postgres_world(dsn) as world:
        yield world


class Crowd:
    """Loops that take hold of the same tasks, each in its own random order."""

    def __init__(self, world, tasks=200):
        self.world = world
        self.faults = []
        self.dice = Random(1)
        self.running = []
        sent = [world.new_task() for _ in range(tasks)]
        world.inbox.accept(Batch(tasks=sent))
        self.ids = [task.id for task in sent]

    async def repeat(self, act):
        for _ in range(ROUNDS):
            try:
                await act()
            except BrokerError as error:
                self.faults.append(error.fault)

    async def claim(self):
        self.running += await self.world.claim(20)

    async def prefetch_and_release(self):
        claimed = await self.world.claim(20, start=False)
        async with self.world.unit_of_work() as tx:
            await tx.tasks.release([task.claim for task in self.shuffled(claimed)])

    async def complete(self):
        await self.settle(Complete)

    async def fail(self):
        await self.settle(lambda: Fail("BOOM"))

    async def retry(self):
        await self.settle(lambda: RetryAt(self.world.now(), "BOOM"))

    async def settle(self, verdict):
        some = self.shuffled(self.running)[:10]
        async with self.world.unit_of_work() as tx:
            await tx.tasks.settle([Settlement(task.claim, verdict(), b"{}") for task in some])

    async def reap(self):
        async with self.world.unit_of_work() as tx:
            stale = await tx.recovery.stale_running(self.world.now(), None, 10)
            verdict = RetryAt(self.world.now(), "WORKER_CRASHED")
            await tx.tasks.settle([Settlement(task.claim, verdict) for task in stale])

    async def cancel(self):
        async with self.world.unit_of_work() as tx:
            await tx.tasks.cancel(self.shuffled(self.ids)[:3])

    async def beat(self):
        await self.world.beat(running=[task.claim for task in self.running[-30:]])

    def shuffled(self, things):
        return self.dice.sample(things, len(things))


async def test_nobody_deadlocks_who_takes_hold_of_the_same_tasks(world, onlooker):
    crowd = Crowd(world)
    acts = ["claim", "prefetch_and_release", "complete", "fail", "retry", "reap", "cancel", "beat"]
    await asyncio.gather(*(crowd.repeat(getattr(crowd, act)) for act in acts))
    assert set(crowd.faults) <= {BrokerFault.BUSY}
    assert onlooker.execute(DEADLOCKS).fetchone() == (0,)


async def test_batches_of_several_verdicts_take_their_locks_in_one_order_too(world, onlooker):
    crowd = Crowd(world)

    async def settle_mixed():
        verdicts = [Complete(), Fail("BOOM"), RetryAt(world.now(), "BOOM")]
        await crowd.settle(lambda: crowd.dice.choice(verdicts))

    acts = [crowd.claim, crowd.cancel, crowd.prefetch_and_release, *[settle_mixed] * 3]
    await asyncio.gather(*(crowd.repeat(act) for act in acts))
    assert set(crowd.faults) <= {BrokerFault.BUSY}
    assert onlooker.execute(DEADLOCKS).fetchone() == (0,)
