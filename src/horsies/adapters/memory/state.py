"""Everything the engine knows, behind one lock."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from threading import Lock, get_ident

from horsies.adapters.memory.tables import Journal, Table
from horsies.adapters.memory.task_index import TaskIndex
from horsies.application.ports.clock import Clock
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.task import Attempt, Task
from horsies.domain.worker import Heartbeat, Worker


@dataclass(frozen=True, slots=True)
class KeyRow:
    task_id: TaskId
    fingerprint: bytes
    expires_at: datetime


class MemoryState:
    """Rows are immutable values: an undone transaction leaves no trace in them."""

    def __init__(self, clock: Clock, on_ended: Callable[[Sequence[TaskId]], None]) -> None:
        self.clock = clock
        self._on_ended = on_ended
        self._lock = Lock()
        self._owner: int | None = None
        self._journal = Journal()
        self._ended: list[TaskId] = []
        self.index = TaskIndex()
        self.live: Table[TaskId, Task] = Table(self._journal, self.index.note)
        self.history: Table[TaskId, Task] = Table(self._journal)
        self.attempts: Table[tuple[TaskId, int], Attempt] = Table(self._journal)
        self.keys: Table[tuple[str, str], KeyRow] = Table(self._journal)
        self.workers: Table[WorkerId, Worker] = Table(self._journal)
        self.heartbeats: Table[int, Heartbeat] = Table(self._journal)
        self.last_beats: Table[tuple[TaskId, int], datetime] = Table(self._journal)
        self._heartbeat_ids = count()

    @contextmanager
    def transaction(self) -> Generator[None]:
        if self._owner == get_ident():
            raise RuntimeError(
                "a memory transaction was left open across an await or a nested call"
            )
        with self._lock:
            self._owner = get_ident()
            try:
                yield
            except BaseException:
                self._journal.undo()
                self._ended.clear()
                raise
            finally:
                self._journal.forget()
                ended, self._ended = self._ended, []
                self._owner = None
        if ended:
            self._on_ended(ended)

    def find(self, task_id: TaskId) -> Task | None:
        return self.live.get(task_id) or self.history.get(task_id)

    def write(self, task: Task) -> None:
        """Live tasks stay in the hot table, ended ones move to history."""
        if not task.status.is_terminal:
            self.live.put(task.id, task)
            return
        self.live.drop(task.id)
        self.history.put(task.id, task)
        self._ended.append(task.id)

    def record_beat(self, beat: Heartbeat) -> None:
        self.heartbeats.put(next(self._heartbeat_ids), beat)
        self.last_beats.put((beat.task_id, beat.epoch), beat.sent_at)
