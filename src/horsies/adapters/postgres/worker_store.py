"""Workers in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from horsies.adapters.postgres.rows import columns_of_worker, worker_of
from horsies.adapters.postgres.session import LOOK, PING, Session
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.suspension import Suspensions
from horsies.domain.task import Claim
from horsies.domain.worker import HeartbeatRole, Pulse, PulseAnswer, Worker


class PostgresWorkerStore:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def beat(self, pulse: Pulse, lease: timedelta) -> PulseAnswer:
        roles: dict[Claim, str | None] = dict.fromkeys(pulse.quiet)
        roles |= dict.fromkeys(pulse.claimed, str(HeartbeatRole.CLAIMER))
        roles |= dict.fromkeys(pulse.running, str(HeartbeatRole.RUNNER))
        rows = await self._session.rows(
            "beat",
            **columns_of_worker(pulse.worker),
            lease=lease,
            now=self._session.clock.now(),
            ids=[claim.id for claim in roles],
            epochs=[claim.epoch for claim in roles],
            roles=list(roles.values()),
        )
        held = {
            Claim(TaskId(task_id), epoch): cancelling
            for _, task_id, epoch, cancelling in rows
            if task_id is not None
        }
        return PulseAnswer(
            lost=frozenset(claim for claim in roles if claim not in held),
            cancel_requested=frozenset(claim for claim, asked in held.items() if asked),
            suspended=rows[0][0],
        )

    async def retire(self, worker: WorkerId) -> None:
        await self._session.change("retire_worker", worker=worker, now=self._session.clock.now())

    async def next_lapse(
        self, other_than: WorkerId, after: datetime | None = None
    ) -> datetime | None:
        ((lapse,),) = await self._session.rows("next_lapse", worker=other_than, after=after)
        return lapse

    async def server_started_at(self) -> datetime:
        ((started,),) = await self._session.rows("server_started_at")
        return started

    async def suspend(self, name: str) -> None:
        await self._session.change("suspend", name=name, now=self._session.clock.now())
        self._session.say(LOOK)

    async def resume(self, name: str) -> None:
        await self._session.change("resume", name=name)
        self._session.say(LOOK)

    async def resume_all(self) -> None:
        await self._session.change("resume_all")
        self._session.say(LOOK)

    async def suspensions(self) -> Suspensions:
        rows = await self._session.rows("suspensions")
        return Suspensions(frozenset(name for (name,) in rows))

    async def ping(self, asked_at: datetime) -> None:
        self._session.say(PING, asked_at.isoformat())

    async def all(self) -> Sequence[Worker]:
        return [worker_of(row) for row in await self._session.rows("all_workers")]
