"""Finding what was left behind, in memory."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from horsies.adapters.memory.state import MemoryState
from horsies.domain.ids import TaskId
from horsies.domain.outcome import is_expired
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus


class MemoryRecoveryStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def stale_claimed(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        return self._stale(TaskStatus.CLAIMED, silent_since, lapsed_at, limit)

    async def stale_running(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        return self._stale(TaskStatus.RUNNING, silent_since, lapsed_at, limit)

    async def expire(self, limit: int) -> Sequence[TaskId]:
        now = self._state.clock.now()
        due = (
            task for task in self._state.index.may_be_overdue() if is_expired(task.good_until, now)
        )
        expired = list(islice(due, limit))
        for task in expired:
            self._state.write(task.expired(now))
        return [task.id for task in expired]

    async def unresolved(self, since_before: datetime, limit: int) -> Sequence[Task]:
        forlorn = (
            task
            for task in self._state.index.may_be_overdue()
            if task.unresolved_since is not None and task.unresolved_since <= since_before
        )
        return list(islice(forlorn, limit))

    async def reject(self, task: Task, code: str, result: bytes) -> bool:
        current = self._state.live.get(task.id)
        if current is None or (current.epoch, current.status) != (task.epoch, TaskStatus.PENDING):
            return False
        self._state.write(current.rejected(code, self._state.clock.now(), result))
        return True

    async def purge(self, retention: timedelta | None, limit: int) -> int:
        now = self._state.clock.now()
        old = list(
            islice(
                (task for task in self._state.history.rows() if _is_over(task, retention, now)),
                limit,
            )
        )
        for task in old:
            self._forget(task)
        for key, row in self._state.keys.items():
            if row.expires_at <= now:
                self._state.keys.drop(key)
        return len(old)

    async def purge_heartbeats(self, before: datetime, limit: int) -> int:
        beats = self._state.heartbeats
        old = list(islice((key for key, beat in beats.items() if beat.sent_at < before), limit))
        for key in old:
            beats.drop(key)
        return len(old)

    async def purge_workers(self, before: datetime, limit: int) -> int:
        workers = self._state.workers
        old = list(islice((row.id for row in workers.rows() if row.lease_until < before), limit))
        for worker_id in old:
            workers.drop(worker_id)
        return len(old)

    def _stale(
        self,
        status: TaskStatus,
        silent_since: datetime | None,
        lapsed_at: datetime | None,
        limit: int,
    ) -> list[Task]:
        stale = (
            task
            for task in self._state.live.rows()
            if task.status is status
            and (self._is_silent(task, silent_since) or self._has_lapsed(task, lapsed_at))
        )
        return list(islice(stale, limit))

    def _is_silent(self, task: Task, since: datetime | None) -> bool:
        return since is not None and self._state.last_sign(task) <= since

    def _has_lapsed(self, task: Task, at: datetime | None) -> bool:
        worker = self._state.workers.get(task.worker) if task.worker is not None else None
        return at is not None and worker is not None and worker.lease_until <= at

    def _forget(self, task: Task) -> None:
        self._state.history.drop(task.id)
        for epoch in range(1, task.epoch + 1):
            self._state.attempts.drop((task.id, epoch))
            self._state.last_beats.drop((task.id, epoch))


def _is_over(task: Task, retention: timedelta | None, now: datetime) -> bool:
    keep = task.terms.result_ttl if task.terms.result_ttl is not None else retention
    return keep is not None and task.finished_at is not None and now - task.finished_at >= keep
