"""Watching the processes of tasks: a worker may be well while a child of it is not."""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from horsies.application.ports.executor import Executor, Interruption
from horsies.domain.task import Claim

_SHORTEST, _LONGEST = 0.25, 5.0
_LOOKS_IN_A_THRESHOLD = 20

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

    def __init__(self, executor: Executor, threshold: timedelta) -> None:
        self._executor = executor
        self._threshold = threshold.total_seconds()
        self._heard: dict[Claim, Heard] = {}
        self._looked_at: float | None = None
        self.seconds = min(_LONGEST, max(_SHORTEST, self._threshold / _LOOKS_IN_A_THRESHOLD))

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

    def has_heard(self, claim: Claim, within: timedelta) -> bool:
        """Whether a heartbeat may be sent for it; a run that is too young to be known may have."""
        heard = self._heard.get(claim)
        return heard is None or heard.silence < within.total_seconds()

    def _after(self, claim: Claim, sign: int, passed: float) -> Heard:
        before = self._heard.get(claim)
        if before is None or before.sign != sign:
            return Heard(sign)
        return Heard(sign, before.silence + passed)
