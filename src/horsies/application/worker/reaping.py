"""The loop that recovers what others have left behind, and forgets what is old."""

import asyncio
import logging
from datetime import datetime, timedelta

from horsies.application.ports.clock import Clock
from horsies.application.ports.dice import Dice
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.usecases.reap_tasks import BATCH, ReapTasks
from horsies.application.worker.patience import Patience
from horsies.domain.backoff import spread
from horsies.domain.ids import WorkerId
from horsies.domain.lease import Watch

AFTER_A_LAPSE = timedelta(milliseconds=50)
"""Leases are looked at when the earliest of them has ended, and not a moment before."""

_log = logging.getLogger("horsies.worker")


class ReapLoop:
    """Any number of workers may reap: every write is guarded.

    Nobody is called dead by who has not been watching: an outage begins the watch anew.
    """

    def __init__(
        self,
        *,
        worker: WorkerId,
        reap: ReapTasks,
        unit_of_work: UnitOfWork,
        clock: Clock,
        dice: Dice,
        patience: Patience,
    ) -> None:
        self._worker = worker
        self._reap = reap
        self._unit_of_work = unit_of_work
        self._clock = clock
        self._dice = dice
        self._patience = patience
        self._interval = min(reap.recovery.check_interval, reap.lease / 2)
        self._watching_since: datetime | None = None
        self._outages = patience.outages

    async def run(self) -> None:
        while True:
            lapse = await self._patience.through(self._pass)
            await asyncio.sleep(self._seconds_until(lapse))

    async def _pass(self) -> datetime | None:
        """One pass; gives when the next lease of another worker ends."""
        reaped = await self._reap(await self._watch())
        for what in ("requeued", "recovered", "expired", "rejected"):
            if number := getattr(reaped, what):
                _log.info("%s %d tasks", what, number)
        while reaped.purged == BATCH:
            reaped = await self._reap.only_purge()
        async with self._unit_of_work() as tx:
            return await tx.workers.next_lapse(self._worker)

    async def _watch(self) -> Watch:
        async with self._unit_of_work() as tx:
            server_started_at = await tx.workers.server_started_at()
        if self._watching_since is None or self._outages != self._patience.outages:
            self._outages = self._patience.outages
            self._watching_since = self._clock.now()
        return Watch(server_started_at, self._watching_since)

    def _seconds_until(self, lapse: datetime | None) -> float:
        rest = spread(self._interval, self._dice.roll())
        if lapse is not None:
            rest = min(rest, max(timedelta(), lapse - self._clock.now()) + AFTER_A_LAPSE)
        return rest.total_seconds()
