"""A worker as the cluster sees it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
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


def state_shown(*, serving: bool, stopping: bool, suspended: bool, running: int) -> WorkerState:
    """One word for all that is so at once; the one that says most about what comes next.

    >>> str(state_shown(serving=True, stopping=False, suspended=True, running=3))
    'suspended'
    """
    if stopping:
        return WorkerState.STOPPING
    if not serving:
        return WorkerState.STARTED
    if suspended:
        return WorkerState.SUSPENDED
    return WorkerState.BUSY if running else WorkerState.IDLE


class Presence(StrEnum):
    """What has become of a worker, as far as its row can tell."""

    HERE = "here"
    LOST = "lost"  # its lease lapsed, and it never said that it would leave
    LEFT = "left"


class HeartbeatRole(StrEnum):
    CLAIMER = "claimer"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True)
class Gauge:
    """What a worker uses, its children included; one core that is busy is a share of 1."""

    memory_bytes: int = 0
    cpu_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    running: int = 0
    claimed: int = 0
    places: int = 0
    gauge: Gauge = field(default_factory=Gauge)


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """`schema` is the version of the tables that it found when it started."""

    horsies: str | None = None
    python: str | None = None
    schema: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Ids are fresh at each start; the name is what operators know it by.

    `caps` are the limits of its queues as it was configured.
    """

    id: WorkerId
    name: str
    hostname: str
    pid: int
    queues: tuple[str, ...]
    started_at: datetime
    lease_until: datetime
    state: WorkerState = WorkerState.STARTED
    current: tuple[TaskId, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict[str, int])
    load: Load = field(default_factory=Load)
    versions: Versions = field(default_factory=Versions)
    hears: bool = False  # whether it listens, or finds out with its next beat
    beat_at: datetime | None = None
    pinged_at: datetime | None = None  # the latest ping that it has heard
    left_at: datetime | None = None

    def presence(self, now: datetime) -> Presence:
        if self.left_at is not None:
            return Presence.LEFT
        return Presence.HERE if self.lease_until > now else Presence.LOST

    def has_answered(self, asked_at: datetime) -> bool:
        """Whoever listens answers a ping; whoever does not cannot but beat."""
        answer = self.pinged_at if self.hears else self.beat_at
        return answer is not None and answer >= asked_at


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
    """What a worker says of itself, and which claims it speaks for: `claimed` and `running`.

    The whole record comes along, so a row that retention took is simply there again. It also holds
    the `quiet` ones: asked about like the others, while nothing is written for them.
    """

    worker: Worker
    claimed: Collection[Claim] = ()
    running: Collection[Claim] = ()
    quiet: Collection[Claim] = ()


@dataclass(frozen=True, slots=True)
class PulseAnswer:
    """Claims that are no longer its own, cancels it must carry out, and whether it may claim."""

    lost: frozenset[Claim] = frozenset()
    cancel_requested: frozenset[Claim] = frozenset()
    suspended: bool = False
