"""Reading tasks, live and ended, as one."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from horsies.domain.ids import TaskId
from horsies.domain.progress import Progress
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import SilentTask


class TaskArchive(Protocol):
    async def find(self, ids: Collection[TaskId]) -> Mapping[TaskId, Task]:
        """What is known of these tasks; unknown ids are left out."""
        ...

    async def attempts(self, task_id: TaskId) -> Sequence[Attempt]:
        """Every begun run that has ended, in order."""
        ...

    async def progress(self, task_id: TaskId) -> Progress | None:
        """The latest that the present run has told; None if none is under way."""
        ...

    async def silent(self, since: datetime) -> Sequence[SilentTask]:
        """CLAIMED and RUNNING tasks without a sign of life since then."""
        ...

    async def counts(self) -> Mapping[tuple[str, TaskStatus], int]:
        """Live tasks by queue and status."""
        ...
