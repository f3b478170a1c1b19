"""Workers in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from horsies.adapters.memory.state import MemoryState
from horsies.domain.ids import WorkerId
from horsies.domain.suspension import Suspensions
from horsies.domain.task import Claim, Task
from horsies.domain.task_lifecycle import IN_FLIGHT, TaskStatus
from horsies.domain.worker import (
    Heartbeat,
    HeartbeatRole,
    Pulse,
    PulseAnswer,
    Worker,
    WorkerState,
)


class MemoryWorkerStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def beat(self, pulse: Pulse, lease: timedelta) -> PulseAnswer:
        now = self._state.clock.now()
        worker = replace(pulse.worker, lease_until=now + lease, beat_at=now, left_at=None)
        self._state.workers.put(worker.id, worker)
        claims = [*pulse.claimed, *pulse.running, *pulse.quiet]
        held = {claim: task for claim in claims if (task := self._held(claim, worker))}
        roles = dict.fromkeys(pulse.claimed, HeartbeatRole.CLAIMER)
        roles |= dict.fromkeys(pulse.running, HeartbeatRole.RUNNER)
        for claim, role in roles.items():
            if claim in held:
                self._state.record_beat(_sign(claim, worker, role, now))
        return PulseAnswer(
            lost=frozenset(c for c in claims if c not in held and not self._has_completed(c)),
            cancel_requested=frozenset(
                claim for claim, task in held.items() if task.cancel_requested_at is not None
            ),
            suspended=(await self.suspensions()).covers(worker.name),
        )

    async def retire(self, worker: WorkerId) -> None:
        row = self._state.workers.get(worker)
        if row is not None:
            now = self._state.clock.now()
            self._state.workers.put(
                worker, replace(row, lease_until=now, left_at=now, state=WorkerState.STOPPING)
            )

    async def next_lapse(
        self, other_than: WorkerId, after: datetime | None = None
    ) -> datetime | None:
        holders = {task.worker for task in self._state.live.rows() if task.status in IN_FLIGHT}
        leases = (
            worker.lease_until
            for worker in self._state.workers.rows()
            if worker.id != other_than
            and worker.id in holders
            and (after is None or worker.lease_until > after)
        )
        return min(leases, default=None)

    async def server_started_at(self) -> datetime:
        return self._state.started_at

    async def suspend(self, name: str) -> None:
        if name not in self._state.suspensions:
            self._state.suspensions.put(name, self._state.clock.now())

    async def resume(self, name: str) -> None:
        self._state.suspensions.drop(name)

    async def resume_all(self) -> None:
        for name in (await self.suspensions()).names:
            self._state.suspensions.drop(name)

    async def suspensions(self) -> Suspensions:
        return Suspensions(frozenset(name for name, _ in self._state.suspensions.items()))

    async def ping(self, asked_at: datetime) -> None:
        """Nobody listens to memory: whoever is in it answers with the next beat."""

    async def all(self) -> Sequence[Worker]:
        return sorted(self._state.workers.rows(), key=lambda worker: worker.started_at)

    def _has_completed(self, claim: Claim) -> bool:
        """Whether its own run has, which may go on."""
        ended = self._state.history.get(claim.id)
        return ended is not None and ended.claim == claim and ended.status is TaskStatus.COMPLETED

    def _held(self, claim: Claim, worker: Worker) -> Task | None:
        task = self._state.live.get(claim.id)
        if task is None or task.epoch != claim.epoch or task.worker != worker.id:
            return None
        return task


def _sign(claim: Claim, worker: Worker, role: HeartbeatRole, now: datetime) -> Heartbeat:
    return Heartbeat(
        task_id=claim.id,
        epoch=claim.epoch,
        sender=str(worker.id),
        role=role,
        sent_at=now,
        hostname=worker.hostname,
        pid=worker.pid,
    )
