"""Reading tasks in memory."""

from collections.abc import Collection, Mapping, Sequence

from horsies.adapters.memory.state import MemoryState
from horsies.domain.ids import TaskId
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import TaskStatus


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

    async def counts(self) -> Mapping[tuple[str, TaskStatus], int]:
        return {key: count for key, count in self._state.index.counts.items() if count}
