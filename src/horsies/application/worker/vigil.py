"""Watching the processes of tasks: a worker may be well while a child of it is not."""

import asyncio
import logging
from dataclasses import dataclass

from horsies.application.ports.executor import Executor, Interruption
from horsies.application.settings.recovery import RecoveryConfig
from horsies.domain.task import Claim

LONGEST_SECONDS = 5.0
LOOKS = 8, 2
"""At least so many within the threshold, and within the interval of runners' heartbeats."""

_log = logging.getLogger("horsies.worker")


@dataclass(frozen=True, slots=True)
class Heard:
    """The last sign of life of a run, and how long we have been watching in vain since."""

    sign: int
    silence: float = 0.0


class Vigil:
    """Ends the process that is silent for as long as the threshold; needs no database for it.

    A process that was stopped, or that hangs inside of C code, is alive for the system. Time in
    which nobody looked proves nothing: the whole machine may have stood still.
    """

    def __init__(self, executor: Executor, recovery: RecoveryConfig) -> None:
        self._executor = executor
        self._threshold = recovery.running_stale_threshold.total_seconds()
        self._interval = recovery.runner_heartbeat_interval.total_seconds()
        self._heard: dict[Claim, Heard] = {}
        self._looked_at: float | None = None
        self.seconds = min(LONGEST_SECONDS, self._threshold / LOOKS[0], self._interval / LOOKS[1])

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.look(loop.time())
            await asyncio.sleep(self.seconds)

    def look(self, now: float) -> None:
        passed = 0.0 if self._looked_at is None else min(now - self._looked_at, 2 * self.seconds)
        self._looked_at = now
        self._heard = {
            claim: self._after(claim, sign, passed)
            for claim, sign in self._executor.signs_of_life().items()
        }
        silent = [claim for claim, heard in self._heard.items() if heard.silence >= self._threshold]
        if silent:
            _log.error(
                "%d tasks run in processes without a sign of life for %.0f s: killed",
                len(silent),
                self._threshold,
            )
            self._executor.interrupt(silent, Interruption.SILENT)

    def has_heard(self, claim: Claim) -> bool:
        """Within the interval of heartbeats; a run too young to be known counts as heard."""
        heard = self._heard.get(claim)
        return heard is None or heard.silence < self._interval

    def _after(self, claim: Claim, sign: int, passed: float) -> Heard:
        before = self._heard.get(claim)
        if before is None or before.sign != sign:
            return Heard(sign)
        return Heard(sign, before.silence + passed)
