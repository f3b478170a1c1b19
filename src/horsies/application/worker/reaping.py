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
from horsies.domain.lease import Watch, lapsed_cutoff, next_judgement

AFTER_A_LAPSE = timedelta(milliseconds=50)
"""Leases are looked at when the earliest of them has ended, and not a moment before."""

_FOUND = ("requeued", "recovered", "expired", "rejected")
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
            rest = await self._patience.through(self._pass)
            await asyncio.sleep(rest)

    async def _pass(self) -> float:
        """One pass; gives the seconds until the next."""
        watch = await self._watch()
        judged_at = self._clock.now()
        reaped = await self._reap(watch)
        found = {what: getattr(reaped, what) for what in _FOUND}
        for what, number in found.items():
            if number:
                _log.info("%s %d tasks", what, number)
        while reaped.purged == BATCH:
            reaped = await self._reap.only_purge()
        if BATCH in found.values():  # there are more of them
            return 0.0
        return (await self._until_next(watch, judged_at)).total_seconds()

    async def _watch(self) -> Watch:
        async with self._unit_of_work() as tx:
            server_started_at = await tx.workers.server_started_at()
        if self._watching_since is None or self._outages != self._patience.outages:
            self._outages = self._patience.outages
            self._watching_since = self._clock.now()
        return Watch(server_started_at, self._watching_since)

    async def _until_next(self, watch: Watch, judged_at: datetime) -> timedelta:
        """Sooner than usual only for a lease that could not be judged this time."""
        judged = lapsed_cutoff(judged_at, self._reap.lease, watch)
        async with self._unit_of_work() as tx:
            lapse = await tx.workers.next_lapse(self._worker, judged)
        rest = spread(self._interval, self._dice.roll())
        at = next_judgement(lapse, judged_at, self._reap.lease, watch)
        if at is None:
            return rest
        return min(rest, max(timedelta(), at - self._clock.now()) + AFTER_A_LAPSE)
