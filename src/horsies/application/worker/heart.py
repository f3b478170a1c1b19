"""A worker's signs of life, and what it learns in return."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import Executor, Interruption
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.usecases.send_heartbeat import SendHeartbeat
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.domain.lease import renew_every
from horsies.domain.worker import Pulse, PulseAnswer, Worker, WorkerState


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
        clock: Clock,
        patience: Patience,
        state: Callable[[], WorkerState],
    ) -> None:
        self._worker = worker
        self._beat = beat
        self._claimed_age = recovery.claimer_heartbeat_interval
        self._running_age = recovery.runner_heartbeat_interval
        self._holdings = holdings
        self._executor = executor
        self._clock = clock
        self._patience = patience
        self._state = state
        self._beat_now = asyncio.Event()
        self.seconds = min(
            renew_every(beat.lease), self._claimed_age, self._running_age
        ).total_seconds()

    def beat_now(self) -> None:
        self._beat_now.set()

    async def run(self) -> None:
        while True:
            self._beat_now.clear()
            await self.beat()
            await _wait(self._beat_now, self.seconds)

    async def beat(self) -> None:
        """What is no longer ours is stopped, what somebody cancelled is asked to end."""
        answer = await self._patience.through(self._send)
        self._executor.interrupt(answer.lost, Interruption.LOST)
        self._holdings.forget(self._holdings.of(answer.lost))
        self._executor.interrupt(answer.cancel_requested, Interruption.CANCEL)

    async def _send(self) -> PulseAnswer:
        now = self._clock.now()
        worker = replace(self._worker, state=self._state(), current=self._holdings.ids)
        claimed = self._holdings.claimed_since(now - self._claimed_age)
        running = self._holdings.running_since(now - self._running_age)
        return await self._beat(Pulse(worker, claimed, running))


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
