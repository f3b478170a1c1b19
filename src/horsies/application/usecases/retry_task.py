"""Running an ended task once more, as a new task: history never changes."""

from dataclasses import dataclass

from horsies.application.conflicts import redone_after_conflicts
from horsies.application.ports.id_source import IdSource
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.errors import BrokerError
from horsies.domain.ids import TaskId
from horsies.domain.task import NewTask, Task


@dataclass(frozen=True, slots=True)
class RetryTask:
    unit_of_work: UnitOfWork
    ids: IdSource

    @redone_after_conflicts
    async def __call__(self, task_id: TaskId) -> TaskId:
        async with self.unit_of_work() as tx:
            task = (await tx.archive.find([task_id])).get(task_id)
            if task is None:
                raise BrokerError(
                    f"task {task_id} is not known (any more), so it cannot be retried"
                )
            if not task.status.is_terminal:
                raise BrokerError(
                    f"task {task_id} is still {task.status}: only an ended task can be retried"
                )
            again = _once_more(task, self.ids.task_id())
            await tx.tasks.insert([again])
            return again.id


def _once_more(task: Task, new_id: TaskId) -> NewTask:
    """The same call on the same terms; its deadline has gone with the first life."""
    return NewTask(
        id=new_id,
        name=task.name,
        queue=task.queue,
        payload=task.payload,
        priority=task.priority,
        terms=task.terms,
        headers=task.headers,
        retry_of=task.id,
    )
