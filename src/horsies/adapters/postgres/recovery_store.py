"""Finding what was left behind, in PostgreSQL. What someone else has locked is passed over."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from horsies.adapters.postgres.session import Session
from horsies.domain.ids import TaskId
from horsies.domain.settlement import held
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus


class PostgresRecoveryStore:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def stale_claimed(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        return await self._stale(TaskStatus.CLAIMED, silent_since, lapsed_at, limit)

    async def stale_running(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        return await self._stale(TaskStatus.RUNNING, silent_since, lapsed_at, limit)

    async def expire(self, limit: int) -> Sequence[TaskId]:
        now = self._session.clock.now()
        overdue = await self._session.tasks("overdue_tasks", now=now, limit=limit)
        await self._session.write([task.expired(now) for task in overdue])
        return [task.id for task in overdue]

    async def unresolved(self, since_before: datetime, limit: int) -> Sequence[Task]:
        return await self._session.tasks("unresolved_tasks", before=since_before, limit=limit)

    async def reject(self, task: Task, code: str, result: bytes) -> bool:
        locked = await self._session.tasks("lock_tasks", ids=[task.id])
        current = held(locked[0] if locked else None, task.claim, TaskStatus.PENDING)
        if current is None:
            return False
        await self._session.write([current.rejected(code, self._session.clock.now(), result)])
        return True

    async def purge(self, retention: timedelta | None, limit: int) -> int:
        now = self._session.clock.now()
        await self._session.change("purge_keys", now=now, limit=limit)
        return await self._session.change("purge_tasks", now=now, retention=retention, limit=limit)

    async def purge_heartbeats(self, before: datetime, limit: int) -> int:
        return await self._session.change("purge_heartbeats", before=before, limit=limit)

    async def purge_workers(self, before: datetime, limit: int) -> int:
        return await self._session.change("purge_workers", before=before, limit=limit)

    async def _stale(
        self,
        status: TaskStatus,
        silent_since: datetime | None,
        lapsed_at: datetime | None,
        limit: int,
    ) -> list[Task]:
        if silent_since is None and lapsed_at is None:
            return []
        return await self._session.tasks(
            "stale_tasks", status=str(status), silent=silent_since, lapsed=lapsed_at, limit=limit
        )
