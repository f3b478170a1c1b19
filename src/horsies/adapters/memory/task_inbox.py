"""Sends in memory. A caller's connection has nothing to commit here: such sends count at once."""

from collections import Counter
from collections.abc import Sequence

from horsies.adapters.memory.state import KeyRow, MemoryState
from horsies.domain.sending import Accepted, AlreadyThere, Batch, KeyTaken, QueueFull, Receipt
from horsies.domain.task import NewTask, Task
from horsies.domain.task_lifecycle import TaskStatus


class MemoryTaskInbox:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        del connection
        with self._state.transaction():
            full = self._overflow(batch)
            if full is not None:
                return [full] * len(batch.tasks)
            return [self._accept_one(task, batch) for task in batch.tasks]

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        return self.accept(batch, connection)

    def _overflow(self, batch: Batch) -> QueueFull | None:
        for queue, added in Counter(task.queue for task in batch.tasks).items():
            limit = batch.max_pending.get(queue)
            waiting = self._state.index.counts[queue, TaskStatus.PENDING]
            if limit is not None and waiting + added > limit:
                return QueueFull(queue, limit)
        return None

    def _accept_one(self, new: NewTask, batch: Batch) -> Receipt:
        known = self._state.find(new.id)
        if known is not None:
            return AlreadyThere(known.id, known.name, known.payload)
        if new.idempotency is not None:
            now = self._state.clock.now()
            row = self._state.keys.get((new.name, new.idempotency.key))
            if row is not None and row.expires_at > now:
                return KeyTaken(row.task_id, row.fingerprint)
            fresh = KeyRow(new.id, new.idempotency.fingerprint, now + batch.key_window)
            self._state.keys.put((new.name, new.idempotency.key), fresh)
        self._state.write(Task.sent(new, self._state.clock.now()))
        return Accepted(new.id)
