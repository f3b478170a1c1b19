"""Which tasks are next: kept beside the table of live tasks, rebuilt by every change to it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from heapq import heappop, heappush
from typing import TypeAlias

from horsies.domain.task import Task
from horsies.domain.task_lifecycle import IN_FLIGHT, TaskStatus

_Entry: TypeAlias = tuple[int, datetime, int]
"""Priority, eligible time and the id as a number: a UUID compares and hashes far slower."""


class TaskIndex:
    """Heaps whose outdated entries are dropped when they surface."""

    def __init__(self) -> None:
        self._pending: dict[int, Task] = {}
        self._overdue_some_day: dict[int, Task] = {}
        self._ready: defaultdict[str, list[_Entry]] = defaultdict(list)
        self._waiting: defaultdict[str, list[_Entry]] = defaultdict(list)
        self.counts: Counter[tuple[str, TaskStatus]] = Counter()

    def note(self, before: Task | None, after: Task | None) -> None:
        if before is not None:
            self.counts[before.queue, before.status] -= 1
            self._pending.pop(before.id.int, None)
            self._overdue_some_day.pop(before.id.int, None)
        if after is not None:
            self.counts[after.queue, after.status] += 1
            if after.status is TaskStatus.PENDING:
                self._pending[after.id.int] = after
                self.add(after)
                if after.good_until is not None or after.unresolved_since is not None:
                    self._overdue_some_day[after.id.int] = after

    def add(self, task: Task) -> None:
        heappush(self._heap(task)[task.queue], _entry(task))

    def rebuild(self, live: Iterable[Task]) -> None:
        """From the table alone, after work was undone at a point nobody knows."""
        for content in (self._pending, self._overdue_some_day, self._ready, self._waiting):
            content.clear()
        self.counts.clear()
        for task in live:
            self.note(None, task)

    def may_be_overdue(self) -> Iterator[Task]:
        """Pending tasks that have a deadline or that nobody has understood yet."""
        return iter(tuple(self._overdue_some_day.values()))

    def in_flight(self, queue: str | None = None) -> int:
        return sum(
            count
            for (name, status), count in self.counts.items()
            if status in IN_FLIGHT and (queue is None or name == queue)
        )

    def take_ready(self, queues: Collection[str]) -> Task | None:
        """Remove and give the first claimable task of these queues."""
        heads = (self._first(self._ready[queue]) for queue in queues)
        first = min((task for task in heads if task is not None), key=_entry, default=None)
        if first is not None:
            heappop(self._ready[first.queue])
        return first

    def first_waiting(self, queues: Collection[str]) -> Task | None:
        """The task of these queues whose time comes next."""
        heads = (self._first(self._waiting[queue]) for queue in queues)
        return min((task for task in heads if task is not None), key=_entry, default=None)

    def _heap(self, task: Task) -> defaultdict[str, list[_Entry]]:
        return self._ready if task.claimable else self._waiting

    def _first(self, heap: list[_Entry]) -> Task | None:
        while heap:
            task = self._pending.get(heap[0][2])
            if (
                task is not None
                and self._heap(task)[task.queue] is heap
                and _entry(task) == heap[0]
            ):
                return task
            heappop(heap)
        return None


def _entry(task: Task) -> _Entry:
    if task.claimable:
        return (task.priority, task.enqueued_at, task.id.int)
    return (0, task.enqueued_at, task.id.int)
