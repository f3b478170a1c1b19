"""A worker as the cluster sees it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.task import Claim
from horsies.domain.task_lifecycle import TaskStatus


class WorkerState(StrEnum):
    STARTED = "started"  # until its first tick
    IDLE = "idle"
    BUSY = "busy"
    SUSPENDED = "suspended"
    STOPPING = "stopping"


class HeartbeatRole(StrEnum):
    CLAIMER = "claimer"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Ids are fresh at each start; the name is what operators know it by."""

    id: WorkerId
    name: str
    hostname: str
    pid: int
    queues: tuple[str, ...]
    started_at: datetime
    lease_until: datetime
    state: WorkerState = WorkerState.STARTED
    current: tuple[TaskId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A sign of life for one task; only those of its current epoch count."""

    task_id: TaskId
    epoch: int
    sender: str
    role: HeartbeatRole
    sent_at: datetime
    hostname: str
    pid: int


@dataclass(frozen=True, slots=True)
class SilentTask:
    """A task that is held, and for which nobody has spoken for a while."""

    id: TaskId
    status: TaskStatus
    worker_hostname: str | None
    worker_pid: int | None
    last_heartbeat_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a worker says of itself: which claims it holds, which of them are running.

    The whole record comes along, so a row that retention took is simply there again.
    """

    worker: Worker
    claimed: Collection[Claim] = ()
    running: Collection[Claim] = ()


@dataclass(frozen=True, slots=True)
class PulseAnswer:
    """What the store answers: claims that are no longer its own, and cancels it must carry out."""

    lost: frozenset[Claim] = frozenset()
    cancel_requested: frozenset[Claim] = frozenset()
