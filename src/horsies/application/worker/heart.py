"""A worker's signs of life, and what it learns in return."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import Executor, Interruption
from horsies.application.ports.gauges import Gauges
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.usecases.send_heartbeat import SendHeartbeat
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.vigil import Vigil
from horsies.application.worker.voice import Voice
from horsies.application.worker.work import WorkLoop
from horsies.domain.lease import renew_every
from horsies.domain.worker import PulseAnswer, Worker, WorkerState

A_PING_IS_OF_NOW = timedelta(minutes=1)
"""Anybody can send notifications; what is of another time is no ping of ours."""

_log = logging.getLogger("horsies.worker")


class HeartLoop:
    """One statement per beat, for the worker and for whatever it has held long enough to miss."""

    def __init__(
        self,
        *,
        worker: Worker,
        beat: SendHeartbeat,
        recovery: RecoveryConfig,
        holdings: Holdings,
        executor: Executor,
        gauges: Gauges,
        vigil: Vigil,
        work: WorkLoop,
        clock: Clock,
        patience: Patience,
        state: Callable[[], WorkerState],
    ) -> None:
        self._worker = worker
        self._beat = beat
        self._holdings = holdings
        self._executor = executor
        self._gauges = gauges
        self._work = work
        self._clock = clock
        self._patience = patience
        self._state = state
        self._voice = Voice(recovery, holdings, vigil)
        self._pinged_at: datetime | None = None
        self._beat_now = asyncio.Event()
        self.interval = min(
            renew_every(beat.lease),
            recovery.claimer_heartbeat_interval,
            recovery.runner_heartbeat_interval,
        )

    def beat_now(self) -> None:
        self._beat_now.set()

    def pinged(self, asked_at: datetime) -> None:
        """The answer is a beat that names the ping."""
        if abs(self._clock.now() - asked_at) > A_PING_IS_OF_NOW:
            return
        self._pinged_at = max(asked_at, self._pinged_at or asked_at)
        self.beat_now()

    async def run(self) -> None:
        while True:
            self._beat_now.clear()
            await self.beat()
            await _wait(self._beat_now, self.interval.total_seconds())

    async def beat(self) -> None:
        """What is no longer ours is stopped, what somebody cancelled is asked to end."""
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        answer = await self._patience.through(self._send, alone=True)
        if loop.time() - asked_at > self.interval.total_seconds():
            self._patience.outages += 1  # others may have waited as long, and missed their beats
        self._executor.interrupt(answer.lost, Interruption.LOST)
        self._holdings.forget(self._holdings.of(answer.lost))
        self._executor.interrupt(answer.cancel_requested, Interruption.CANCEL)
        self._obey(suspended=answer.suspended)

    def _obey(self, *, suspended: bool) -> None:
        if suspended == self._work.suspended:
            return
        _log.info("suspended: nothing is claimed" if suspended else "resumed")
        self._work.suspended = suspended
        self.beat_now()  # so that its row says so too

    async def _send(self) -> PulseAnswer:
        now = self._clock.now()
        pulse = self._voice.pulse(self._as_it_is(), now, self.interval)
        answer = await self._beat(pulse)
        self._voice.said(pulse, now)
        return answer

    def _as_it_is(self) -> Worker:
        held = self._holdings
        load = replace(
            self._worker.load,
            running=len(held.running),
            claimed=len(held.claimed),
            gauge=self._gauges.read(),
        )
        return replace(
            self._worker,
            state=self._state(),
            current=held.ids,
            load=load,
            pinged_at=self._pinged_at,
        )


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
