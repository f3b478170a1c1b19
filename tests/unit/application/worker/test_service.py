"""A worker from its first beat to its last, in one process and without a database."""

import asyncio

import pytest

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import EvenDice
from horsies.adapters.system.clock import SystemClock
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.application.usecases.claim_tasks import ClaimTasks
from horsies.application.usecases.reap_tasks import ReapTasks
from horsies.application.usecases.send_heartbeat import SendHeartbeat
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.application.worker.appetite import Appetite
from horsies.application.worker.heart import HeartLoop
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.progress import ProgressLoop
from horsies.application.worker.reaping import ReapLoop
from horsies.application.worker.service import LoopEndedError, WorkerService
from horsies.application.worker.tick import Tick
from horsies.application.worker.vigil import Vigil
from horsies.application.worker.work import WorkLoop
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.suspension import EVERYBODY
from horsies.domain.worker import Gauge, Worker, WorkerState
from tests.unit.application.worker.fakes import Hands
from tests.unit.domain.strategies import NOW, WORKER_ID

CONFIG = AppConfig()


class Quiet:
    """Announces nothing, or fails."""

    def __init__(self, error=None):
        self._error = error

    async def listen(self, hearer):  # noqa: ARG002 - the port's
        if self._error is not None:
            raise self._error


class Feather:
    def read(self):
        return Gauge()


class Barn:
    """A worker on the memory engine."""

    def __init__(self, hands=None, announcements=None, unit_of_work=None):
        clock = SystemClock()
        self.hands = hands or Hands()
        self.memory = MemoryEngine(clock).unit_of_work
        unit_of_work = unit_of_work or self.memory
        settle = SettleTasks(MsgspecCodec(), clock, EvenDice(), CONFIG.rules)
        patience = Patience(CONFIG.resilience, EvenDice())
        holdings = Holdings()
        claim = ClaimTasks(CONFIG.queues(), None)
        self.work = WorkLoop(
            tick=Tick(unit_of_work, settle, claim, TaskRegistry(), WORKER_ID),
            executor=self.hands,
            holdings=holdings,
            unit_of_work=unit_of_work,
            clock=clock,
            patience=patience,
            appetite=Appetite(holdings, prefetch_buffer=0, max_held=0, max_batch=0),
            poll_seconds=60,
        )
        vigil = Vigil(self.hands, CONFIG.recovery)
        self.heart = HeartLoop(
            worker=_worker(),
            beat=SendHeartbeat(unit_of_work, CONFIG.claim_lease),
            recovery=CONFIG.recovery,
            holdings=holdings,
            executor=self.hands,
            gauges=Feather(),
            vigil=vigil,
            work=self.work,
            clock=clock,
            patience=patience,
            state=lambda: self.service.state,
        )
        reap = ReapTasks(unit_of_work, settle, clock, CONFIG.recovery, CONFIG.claim_lease)
        self.service = WorkerService(
            worker=WORKER_ID,
            executor=self.hands,
            announcements=announcements or Quiet(),
            unit_of_work=unit_of_work,
            holdings=holdings,
            patience=patience,
            work=self.work,
            heart=self.heart,
            vigil=vigil,
            reaping=ReapLoop(
                worker=WORKER_ID,
                reap=reap,
                unit_of_work=unit_of_work,
                clock=clock,
                dice=EvenDice(),
                patience=patience,
            ),
            progress=ProgressLoop(
                executor=self.hands, unit_of_work=unit_of_work, patience=patience
            ),
            grace_seconds=None,
        )

    async def row(self):
        async with self.memory() as tx:
            return (await tx.workers.all())[0]


def _worker():
    return Worker(
        id=WORKER_ID,
        name="mule",
        hostname="stable",
        pid=1,
        queues=(),
        started_at=NOW,
        lease_until=NOW,
    )


class NeverReady(Hands):
    """Its children take their time."""

    def __init__(self):
        super().__init__()
        self.opening = asyncio.Event()

    async def open(self, on_change, on_progress):
        await super().open(on_change, on_progress)
        self.opening.set()
        await asyncio.Event().wait()


async def test_it_has_started_until_its_children_are_ready():
    hands = NeverReady()
    barn = Barn(hands)
    running = asyncio.create_task(barn.service.run())
    await hands.opening.wait()
    assert (await barn.row()).state is WorkerState.STARTED
    barn.service.stop()
    await running


async def test_who_is_stopped_before_its_children_are_ready_does_not_wait_for_them():
    hands = NeverReady()
    barn = Barn(hands)
    running = asyncio.create_task(barn.service.run())
    await hands.opening.wait()
    barn.service.stop()
    await running
    assert not hands.is_open
    assert (await barn.row()).left_at is not None


async def test_who_is_stopped_before_its_first_beat_is_heard_does_not_wait_for_the_database():
    asked = asyncio.Event()

    def away():
        asked.set()
        raise BrokerError("nobody there", fault=BrokerFault.CONNECTION)

    barn = Barn(unit_of_work=away)
    running = asyncio.create_task(barn.service.run())
    await asked.wait()
    barn.service.stop()
    await running


async def test_who_is_suspended_learns_it_before_it_claims_anything():
    hands = NeverReady()
    barn = Barn(hands)
    async with barn.memory() as tx:
        await tx.workers.suspend(EVERYBODY)
    running = asyncio.create_task(barn.service.run())
    await hands.opening.wait()
    assert barn.work.suspended
    barn.service.stop()
    await running


async def test_a_loop_that_fails_ends_the_worker_with_its_own_error():
    barn = Barn(announcements=Quiet(RuntimeError("the ear is broken")))
    with pytest.raises(RuntimeError, match="the ear is broken"):
        await barn.service.run()
    assert not barn.hands.is_open


async def test_a_loop_that_merely_ends_is_a_failure_too(monkeypatch):
    async def end():
        pass

    barn = Barn()
    monkeypatch.setattr(barn.heart, "run", end)
    with pytest.raises(LoopEndedError, match="the worker's heart ended by itself"):
        await barn.service.run()


async def test_an_error_that_no_wait_can_mend_ends_the_worker():
    def denied():
        raise BrokerError("go away", fault=BrokerFault.DENIED)

    with pytest.raises(BrokerError, match="go away"):
        await Barn(unit_of_work=denied).service.run()


async def test_only_a_ping_of_now_is_answered():
    barn = Barn()
    clock = SystemClock()
    barn.service.pings(NOW)
    asked_at = clock.now()
    barn.service.pings(asked_at)
    await barn.heart.beat()
    assert (await barn.row()).pinged_at == asked_at
