"""Sends in memory. A caller's connection has nothing to commit here: such sends count at once."""

from collections import Counter
from collections.abc import Mapping, Sequence

from horsies.adapters.memory.state import KeyRow, MemoryState
from horsies.domain.sending import Accepted, AlreadyThere, Batch, KeyTaken, QueueFull, Receipt
from horsies.domain.task import NewTask
from horsies.domain.task_lifecycle import TaskStatus


class MemoryTaskInbox:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        del connection
        with self._state.transaction():
            known = [self._recognise(task) for task in batch.tasks]
            fresh = [task for task, found in zip(batch.tasks, known, strict=True) if not found]
            full = self._overflow(fresh, batch.max_pending)
            if full is not None:
                return [full] * len(batch.tasks)
            for task in fresh:
                self._admit(task, batch)
            pairs = zip(batch.tasks, known, strict=True)
            return [found or Accepted(task.id) for task, found in pairs]

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        return self.accept(batch, connection)

    def _recognise(self, new: NewTask) -> Receipt | None:
        """An earlier copy of this very send, or the owner of its key."""
        known = self._state.find(new.id)
        if known is not None:
            return AlreadyThere(known.id, known.name, known.payload)
        if new.idempotency is None:
            return None
        row = self._state.keys.get((new.name, new.idempotency.key))
        if row is None or row.expires_at <= self._state.clock.now():
            return None
        return KeyTaken(row.task_id, row.fingerprint)

    def _overflow(self, fresh: Sequence[NewTask], limits: Mapping[str, int]) -> QueueFull | None:
        for queue, added in Counter(task.queue for task in fresh).items():
            limit = limits.get(queue)
            waiting = self._state.index.counts[queue, TaskStatus.PENDING]
            if limit is not None and waiting + added > limit:
                return QueueFull(queue, limit)
        return None

    def _admit(self, new: NewTask, batch: Batch) -> None:
        self._state.admit(new)
        if new.idempotency is not None:
            expires_at = self._state.clock.now() + batch.key_window
            row = KeyRow(new.id, new.idempotency.fingerprint, expires_at)
            self._state.keys.put((new.name, new.idempotency.key), row)
