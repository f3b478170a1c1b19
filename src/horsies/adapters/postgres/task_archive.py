"""Reading tasks in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from horsies.adapters.postgres.rows import attempt_of
from horsies.adapters.postgres.session import Session
from horsies.domain.ids import TaskId
from horsies.domain.progress import Progress
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import SilentTask


class PostgresTaskArchive:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def find(self, ids: Collection[TaskId]) -> Mapping[TaskId, Task]:
        tasks = await self._session.tasks("find_tasks", ids=list(ids))
        return {task.id: task for task in tasks}

    async def attempts(self, task_id: TaskId) -> Sequence[Attempt]:
        return [attempt_of(row) for row in await self._session.rows("attempts", id=task_id)]

    async def progress(self, task_id: TaskId) -> Progress | None:
        rows = await self._session.rows("find_progress", id=task_id)
        return Progress(*rows[0]) if rows else None

    async def silent(self, since: datetime) -> Sequence[SilentTask]:
        rows = await self._session.rows("silent_tasks", since=since)
        return [SilentTask(row[0], TaskStatus(row[1]), *row[2:]) for row in rows]

    async def counts(self) -> Mapping[tuple[str, TaskStatus], int]:
        rows = await self._session.rows("count_tasks")
        return {(queue, TaskStatus(status)): count for queue, status, count in rows}
