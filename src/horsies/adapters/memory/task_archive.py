"""Reading tasks in memory."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from horsies.adapters.memory.state import MemoryState
from horsies.domain.ids import TaskId
from horsies.domain.progress import Progress
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import IN_FLIGHT, TaskStatus
from horsies.domain.worker import SilentTask


class MemoryTaskArchive:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def find(self, ids: Collection[TaskId]) -> Mapping[TaskId, Task]:
        return {task_id: task for task_id in ids if (task := self._state.find(task_id))}

    async def attempts(self, task_id: TaskId) -> Sequence[Attempt]:
        task = self._state.find(task_id)
        if task is None:
            return []
        epochs = range(1, task.epoch + 1)
        past = [row for epoch in epochs if (row := self._state.attempts.get((task_id, epoch)))]
        last = task.final_attempt()
        return past if last is None else [*past, last]

    async def progress(self, task_id: TaskId) -> Progress | None:
        task = self._state.live.get(task_id)
        if task is None or task.status is not TaskStatus.RUNNING:
            return None
        epoch, progress = self._state.progress.get(task_id) or (0, None)
        return progress if epoch == task.epoch else None

    async def silent(self, since: datetime) -> Sequence[SilentTask]:
        held = (task for task in self._state.live.rows() if task.status in IN_FLIGHT)
        return [self._silent(task) for task in held if self._state.last_sign(task) <= since]

    async def counts(self) -> Mapping[tuple[str, TaskStatus], int]:
        return {key: count for key, count in self._state.index.counts.items() if count}

    def _silent(self, task: Task) -> SilentTask:
        worker = self._state.workers.get(task.worker) if task.worker is not None else None
        return SilentTask(
            task.id,
            task.status,
            worker.hostname if worker else None,
            worker.pid if worker else None,
            self._state.last_beats.get((task.id, task.epoch)),
        )
