"""Queues, and how much a worker may claim from them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from horsies.domain.ids import TaskId, WorkerId

DEFAULT_QUEUE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue as a claimer sees it: lower priority numbers are served first."""

    name: str
    priority: int = 1
    max_concurrency: int | None = None
    max_pending: int | None = None

    @property
    def capped(self) -> bool:
        return self.max_concurrency is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What this worker could still take."""

    free_slots: int
    held: int = 0  # CLAIMED and RUNNING of this worker
    prefetched: int = 0  # CLAIMED only
    prefetch_buffer: int = 0
    max_held: int = 0  # 0: as many as slots and prefetch allow
    max_batch: int = 0  # per queue and pass; 0: as many as there is room
    in_line: int = 0  # light tasks that may wait in a child, those on free slots included
    light: frozenset[str] = frozenset()  # names of tasks that are known to be short

    @property
    def below_limit(self) -> int:
        """How many more may be held at all."""
        if self.max_held:
            return max(0, self.max_held - self.held)
        return max(0, self.free_slots, self.in_line) + max(0, self.prefetch_buffer)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDepth:
    """How much is in a queue; `waiting` could be claimed now, `delayed` waits for its time."""

    name: str
    waiting: int = 0
    delayed: int = 0
    claimed: int = 0
    running: int = 0
    oldest: datetime | None = None  # since when the oldest of those that wait could be claimed
    paused_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class InFlight:
    """CLAIMED and RUNNING tasks across the cluster, counted under the caps' lock."""

    total: int = 0
    by_queue: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Share:
    """At most so many from this queue."""

    queue: str
    limit: int


@dataclass(frozen=True, slots=True)
class ClaimOrder:
    """One pass over the queues: tiers in order of priority, queues within a tier pooled.

    The first `limit` may be any tasks. Up to `in_line` are taken if all from the head on are light,
    so that nothing overtakes a task that has to wait for a place of its own. Names that are
    excluded and tasks that are passed over are left to other workers.
    """

    worker: WorkerId
    limit: int
    tiers: tuple[tuple[Share, ...], ...]
    start: bool
    excluded: frozenset[str] = frozenset()
    in_line: int = 0
    light: frozenset[str] = frozenset()
    passed_over: frozenset[TaskId] = frozenset()

    @property
    def most(self) -> int:
        return max(self.limit, self.in_line)

    @property
    def reachable(self) -> int:
        """Fewer than these, and there are no more."""
        return min(self.most, sum(share.limit for tier in self.tiers for share in tier))


def plan_claims(
    worker: WorkerId,
    queues: Sequence[Queue],
    room: Room,
    in_flight: InFlight,
    *,
    cluster_cap: int | None = None,
    excluded: Collection[str] = (),
    passed_over: frozenset[TaskId] = frozenset(),
) -> tuple[ClaimOrder, ...]:
    """What to claim and start at once, then what to claim ahead of need.

    A capped queue is never prefetched, nor do its tasks wait in line: what waits in a worker would
    hold room that another worker could use.
    """
    cluster_room = None if cluster_cap is None else max(0, cluster_cap - in_flight.total)
    startable = _least(room.free_slots, room.below_limit, cluster_room)
    capped = cluster_cap is not None or any(queue.capped for queue in queues)
    in_line = 0 if capped else _least(room.in_line, room.below_limit)
    started = max(startable, in_line)
    ahead = _least(
        room.prefetch_buffer - room.prefetched,
        room.below_limit - started,
        0 if cluster_cap is not None else None,
    )
    uncapped = [queue for queue in queues if not queue.capped]
    names = frozenset(excluded)
    orders: list[ClaimOrder] = []
    if tiers := _tiers(queues, started, room, in_flight):
        start = ClaimOrder(worker, startable, tiers, start=True, in_line=in_line, light=room.light)
        orders.append(start)
    if tiers := _tiers(uncapped, ahead, room, in_flight):
        orders.append(ClaimOrder(worker, ahead, tiers, start=False))
    return tuple(replace(order, excluded=names, passed_over=passed_over) for order in orders)


def _tiers(
    queues: Sequence[Queue], limit: int, room: Room, in_flight: InFlight
) -> tuple[tuple[Share, ...], ...]:
    if limit <= 0:
        return ()

    def share(queue: Queue) -> Share:
        free = None
        if queue.max_concurrency is not None:
            free = queue.max_concurrency - in_flight.by_queue.get(queue.name, 0)
        return Share(queue.name, _least(limit, room.max_batch or None, free))

    ranked = sorted(queues, key=lambda queue: (queue.priority, queue.name))
    tiers = (
        tuple(given for queue in tier if (given := share(queue)).limit > 0)
        for _, tier in groupby(ranked, key=lambda queue: queue.priority)
    )
    return tuple(tier for tier in tiers if tier)


def _least(*limits: int | None) -> int:
    return max(0, min(limit for limit in limits if limit is not None))
