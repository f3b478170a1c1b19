"""Workers in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from horsies.adapters.postgres.rows import worker_of
from horsies.adapters.postgres.session import Session
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.task import Claim
from horsies.domain.worker import HeartbeatRole, Pulse, PulseAnswer, Worker


class PostgresWorkerStore:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def beat(self, pulse: Pulse, lease: timedelta) -> PulseAnswer:
        worker = pulse.worker
        roles = dict.fromkeys(pulse.claimed, HeartbeatRole.CLAIMER)
        roles |= dict.fromkeys(pulse.running, HeartbeatRole.RUNNER)
        rows = await self._session.rows(
            "beat",
            worker=worker.id,
            name=worker.name,
            hostname=worker.hostname,
            pid=worker.pid,
            queues=list(worker.queues),
            state=str(worker.state),
            started_at=worker.started_at,
            current=list(worker.current),
            lease=lease,
            now=self._session.clock.now(),
            ids=[claim.id for claim in roles],
            epochs=[claim.epoch for claim in roles],
            roles=[str(role) for role in roles.values()],
        )
        held = {Claim(TaskId(task_id), epoch): cancelling for task_id, epoch, cancelling in rows}
        return PulseAnswer(
            lost=frozenset(claim for claim in roles if claim not in held),
            cancel_requested=frozenset(claim for claim, asked in held.items() if asked),
        )

    async def retire(self, worker: WorkerId) -> None:
        await self._session.change("retire_worker", worker=worker, now=self._session.clock.now())

    async def next_lapse(self, other_than: WorkerId) -> datetime | None:
        ((lapse,),) = await self._session.rows("next_lapse", worker=other_than)
        return lapse

    async def server_started_at(self) -> datetime:
        ((started,),) = await self._session.rows("server_started_at")
        return started

    async def all(self) -> Sequence[Worker]:
        return [worker_of(row) for row in await self._session.rows("all_workers")]
