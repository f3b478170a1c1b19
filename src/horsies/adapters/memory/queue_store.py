"""Queues in memory, as operators see them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from horsies.adapters.memory.state import MemoryState
from horsies.domain.queue import QueueDepth
from horsies.domain.task import Claim, Task
from horsies.domain.task_lifecycle import TaskStatus


class MemoryQueueStore:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def pause(self, queue: str) -> None:
        if self._state.paused.get(queue) is None:
            self._state.paused.put(queue, self._state.clock.now())

    async def resume(self, queue: str) -> bool:
        was_paused = queue in self._state.paused
        self._state.paused.drop(queue)
        return was_paused

    async def claimed(self, queue: str) -> Sequence[Claim]:
        return [
            task.claim
            for task in self._state.live.rows()
            if task.status is TaskStatus.CLAIMED and task.queue == queue
        ]

    async def all(self) -> Sequence[QueueDepth]:
        by_queue: dict[str, list[Task]] = defaultdict(list)
        for task in self._state.live.rows():
            by_queue[task.queue].append(task)
        paused = dict(self._state.paused.items())
        return [
            _depth(name, by_queue[name], paused.get(name)) for name in sorted({*by_queue, *paused})
        ]


def _depth(name: str, tasks: Sequence[Task], paused_at: datetime | None) -> QueueDepth:
    waiting = [task for task in tasks if task.claimable]
    counts = Counter(task.status for task in tasks)
    return QueueDepth(
        name=name,
        waiting=len(waiting),
        delayed=counts[TaskStatus.PENDING] - len(waiting),
        claimed=counts[TaskStatus.CLAIMED],
        running=counts[TaskStatus.RUNNING],
        oldest=min((task.enqueued_at for task in waiting), default=None),
        paused_at=paused_at,
    )
