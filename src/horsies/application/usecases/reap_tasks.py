"""Picking up what the dead left behind. Every write is guarded, so any number may reap at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import RunReport
from horsies.application.ports.unit_of_work import Transaction, UnitOfWork
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.lease import Watch, lapsed_cutoff, stale_cutoff
from horsies.domain.outcome import Crashed

BATCH = 500
"""Rows per transaction: recovery must not hold locks for long."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """What one pass did."""

    requeued: int = 0
    recovered: int = 0
    expired: int = 0
    rejected: int = 0
    purged: int = 0


@dataclass(frozen=True, slots=True)
class ReapTasks:
    unit_of_work: UnitOfWork
    settle: SettleTasks
    clock: Clock
    recovery: RecoveryConfig
    lease: timedelta

    async def __call__(self, watch: Watch) -> Reaped:
        return Reaped(
            requeued=await self.requeue_stale_claimed(watch),
            recovered=await self.recover_stale_running(watch),
            expired=await self.expire(),
            rejected=await self.reject_unresolved(),
            purged=await self.purge(),
        )

    async def only_purge(self) -> Reaped:
        """The rest of a retention that one batch could not finish."""
        return Reaped(purged=await self.purge())

    @redone_after_conflicts
    async def requeue_stale_claimed(self, watch: Watch) -> int:
        """Stale CLAIMED → PENDING: nothing of them has run."""
        if not self.recovery.auto_requeue_stale_claimed:
            return 0
        async with self.unit_of_work() as tx:
            cutoffs = self._cutoffs(watch, self.recovery.claimed_stale_threshold)
            return await self._requeue(tx, *cutoffs)

    @redone_after_conflicts
    async def recover_stale_running(self, watch: Watch) -> int:
        """Stale RUNNING are judged as crashed: retried if that is allowed, else failed."""
        if not self.recovery.auto_fail_stale_running:
            return 0
        async with self.unit_of_work() as tx:
            cutoffs = self._cutoffs(watch, self.recovery.running_stale_threshold)
            return await self._recover(tx, *cutoffs)

    @redone_after_conflicts
    async def requeue_silent_claimed(self, threshold: timedelta) -> int:
        """The same at an operator's word, whatever is configured."""
        async with self.unit_of_work() as tx:
            return await self._requeue(tx, self.clock.now() - threshold, None)

    @redone_after_conflicts
    async def recover_silent_running(self, threshold: timedelta) -> int:
        async with self.unit_of_work() as tx:
            return await self._recover(tx, self.clock.now() - threshold, None)

    @redone_after_conflicts
    async def expire(self) -> int:
        async with self.unit_of_work() as tx:
            return len(await tx.recovery.expire(BATCH))

    @redone_after_conflicts
    async def reject_unresolved(self) -> int:
        """Fail what no worker has understood for as long as the grace."""
        async with self.unit_of_work() as tx:
            since = self.clock.now() - self.recovery.unresolved_grace
            rejected = 0
            for task in await tx.recovery.unresolved(since, BATCH):
                code = task.error_code or OperationalErrorCode.WORKER_RESOLUTION_ERROR
                error = self.settle.explain(code)
                if await tx.recovery.reject(task, code, error):
                    ended = task.rejected(code, self.clock.now(), error)
                    await tx.tasks.insert(self.settle.failure_handlers(ended))
                    rejected += 1
            return rejected

    @redone_after_conflicts
    async def purge(self) -> int:
        """Retention: forget ended tasks, old heartbeats and workers long gone."""
        async with self.unit_of_work() as tx:
            purged = await tx.recovery.purge(self.recovery.terminal_record_retention, BATCH)
            if age := self.recovery.heartbeat_retention:
                await tx.recovery.purge_heartbeats(self.clock.now() - age, BATCH)
            if age := self.recovery.worker_state_retention:
                await tx.recovery.purge_workers(self.clock.now() - age, BATCH)
            return purged

    async def _requeue(
        self, tx: Transaction, silent: datetime | None, lapsed: datetime | None
    ) -> int:
        stale = await tx.recovery.stale_claimed(silent, lapsed, BATCH)
        return await tx.tasks.release([task.claim for task in stale])

    async def _recover(
        self, tx: Transaction, silent: datetime | None, lapsed: datetime | None
    ) -> int:
        stale = await tx.recovery.stale_running(silent, lapsed, BATCH)
        reports = [RunReport(task, Crashed()) for task in stale]
        lost = await self.settle(tx, reports)
        return len(reports) - len(lost)

    def _cutoffs(
        self, watch: Watch, threshold: timedelta
    ) -> tuple[datetime | None, datetime | None]:
        now = self.clock.now()
        silent = stale_cutoff(now, threshold, watch)
        return silent, lapsed_cutoff(now, self.lease, watch)
