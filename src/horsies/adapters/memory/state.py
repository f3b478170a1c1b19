"""Everything the engine knows, behind one lock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from threading import Lock, get_ident

from horsies.adapters.memory.tables import Journal, Table
from horsies.adapters.memory.task_index import TaskIndex
from horsies.application.ports.clock import Clock
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.lease import last_sign_of_life
from horsies.domain.progress import Progress
from horsies.domain.task import Attempt, NewTask, Task
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
        self.started_at = clock.now()
        self._on_ended = on_ended
        self._lock = Lock()
        self._owner: int | None = None
        self._journal = Journal()
        self._ended: list[TaskId] = []
        self.sent: list[NewTask] = []
        self.index = TaskIndex()
        self.live: Table[TaskId, Task] = Table(self._journal, self.index.note)
        self.history: Table[TaskId, Task] = Table(self._journal)
        self.attempts: Table[tuple[TaskId, int], Attempt] = Table(self._journal)
        self.keys: Table[tuple[str, str], KeyRow] = Table(self._journal)
        self.workers: Table[WorkerId, Worker] = Table(self._journal)
        self.suspensions: Table[str, datetime] = Table(self._journal)
        self.paused: Table[str, datetime] = Table(self._journal)
        self.heartbeats: Table[int, Heartbeat] = Table(self._journal)
        self.last_beats: Table[tuple[TaskId, int], datetime] = Table(self._journal)
        self.progress: Table[TaskId, tuple[int, Progress]] = Table(self._journal)
        self._heartbeat_ids = count()

    def transaction(self) -> "Scope":
        return Scope(self)

    def begin(self) -> None:
        if self._owner == get_ident():
            raise RuntimeError(
                "a memory transaction was left open across an await or a nested call"
            )
        self._lock.acquire()
        self._owner = get_ident()

    def commit(self) -> None:
        ended, self._ended = self._ended, []
        self._release()
        if ended:
            self._on_ended(ended)

    def undo(self) -> None:
        """Whatever was interrupted half-way, also between a row and its index."""
        self._journal.undo()
        self._ended = []
        self.index.rebuild(self.live.rows())
        self._release()

    def _release(self) -> None:
        self._journal.forget()
        self._owner = None
        self._lock.release()

    def admit(self, new: NewTask) -> None:
        """A task enters, whoever sends it: a producer, a failing task, a retry by hand."""
        self.sent.append(new)
        self._journal.record(self.sent.pop)
        self.write(Task.sent(new, self.clock.now()))

    def find(self, task_id: TaskId) -> Task | None:
        return self.live.get(task_id) or self.history.get(task_id)

    def write(self, task: Task) -> None:
        """Live tasks stay in the hot table, ended ones move to history."""
        if not task.status.is_terminal:
            self.live.put(task.id, task)
            return
        self.live.drop(task.id)
        self.progress.drop(task.id)
        self.history.put(task.id, task)
        self._ended.append(task.id)

    def last_sign(self, task: Task) -> datetime:
        """When somebody last spoke for a task that is held."""
        beat = self.last_beats.get((task.id, task.epoch))
        sign = last_sign_of_life(task.claimed_at, task.started_at, beat)
        assert sign is not None, "a held task was claimed at some time"
        return sign

    def record_beat(self, beat: Heartbeat) -> None:
        self.heartbeats.put(next(self._heartbeat_ids), beat)
        self.last_beats.put((beat.task_id, beat.epoch), beat.sent_at)


class Scope:
    """One transaction, for `with` and `async with` alike: nothing in it ever waits."""

    __slots__ = ("_state",)

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def __enter__(self) -> None:
        self._state.begin()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._state.commit()
        else:
            self._state.undo()
