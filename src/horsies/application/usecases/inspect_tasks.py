"""Looking at tasks without touching them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from horsies.application.ports.clock import Clock
from horsies.application.ports.codec import Codec, UnfitValueError
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.progress import Progress
from horsies.domain.result import TaskError
from horsies.domain.task import Attempt, Task
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import SilentTask


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptInfo:
    """One run of a task."""

    number: int
    worker: WorkerId | None
    started_at: datetime | None
    finished_at: datetime
    error: TaskError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """A task as its sender may see it. Arguments are not part of it.

    `progress` is what the present run has told of itself; it is gone with that run.
    """

    task_id: TaskId
    name: str
    queue: str
    status: TaskStatus
    priority: int
    attempt: int
    retries: int
    crashes: int
    sent_at: datetime
    enqueued_at: datetime
    claimed_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    next_retry_at: datetime | None
    good_until: datetime | None
    cancel_requested_at: datetime | None
    worker: WorkerId | None
    retry_of: TaskId | None
    progress: float | None
    progress_note: str | None
    error: TaskError | None
    attempts: tuple[AttemptInfo, ...]


@dataclass(frozen=True, slots=True)
class InspectTasks:
    unit_of_work: UnitOfWork
    codec: Codec
    clock: Clock

    async def __call__(self, task_id: TaskId) -> TaskInfo | None:
        async with self.unit_of_work() as tx:
            task = (await tx.archive.find([task_id])).get(task_id)
            if task is None:
                return None
            attempts = await tx.archive.attempts(task_id)
            running = task.status is TaskStatus.RUNNING
            progress = await tx.archive.progress(task_id) if running else None
        return self._info(task, attempts, progress)

    async def counts(self) -> Mapping[tuple[str, TaskStatus], int]:
        """Live tasks by queue and status."""
        async with self.unit_of_work() as tx:
            return await tx.archive.counts()

    async def silent(self, silence: timedelta) -> Sequence[SilentTask]:
        """CLAIMED and RUNNING tasks for which nobody has spoken for so long."""
        async with self.unit_of_work() as tx:
            return await tx.archive.silent(self.clock.now() - silence)

    def _info(self, task: Task, attempts: Sequence[Attempt], progress: Progress | None) -> TaskInfo:
        return TaskInfo(
            task_id=task.id,
            name=task.name,
            queue=task.queue,
            status=task.status,
            priority=task.priority,
            attempt=task.attempt,
            retries=task.retries,
            crashes=task.crashes,
            sent_at=task.sent_at,
            enqueued_at=task.enqueued_at,
            claimed_at=task.claimed_at,
            started_at=task.started_at,
            finished_at=task.finished_at,
            next_retry_at=task.next_retry_at,
            good_until=task.good_until,
            cancel_requested_at=task.cancel_requested_at,
            worker=task.worker,
            retry_of=task.retry_of,
            progress=progress.fraction if progress else None,
            progress_note=progress.note if progress else None,
            error=self._error(task.error_code, task.result),
            attempts=tuple(self._attempt(attempt) for attempt in attempts),
        )

    def _attempt(self, attempt: Attempt) -> AttemptInfo:
        return AttemptInfo(
            number=attempt.number,
            worker=attempt.worker,
            started_at=attempt.started_at,
            finished_at=attempt.finished_at,
            error=self._error(attempt.error_code, attempt.result),
        )

    def _error(self, code: str | None, result: bytes | None) -> TaskError | None:
        if code is None:
            return None
        if result is None:
            return TaskError(code)
        try:
            return self.codec.decode_untyped(result).err_value
        except UnfitValueError:
            return TaskError(code, "the stored error cannot be read")
