"""The statement that completes and claims: what it is given, and how its rows are read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.terms import decode_terms
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.queue import ClaimOrder
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus

NO_ORDER = ClaimOrder(WorkerId(UUID(int=0)), 0, (), start=True)

TASK_ID, EPOCH, NAME, QUEUE, ARGS, ATTEMPT, CRASHES, TERMS, PRIORITY, ELIGIBLE_AT = range(10)
RETRIES, RESULT_TTL, GOOD_UNTIL, HEADERS, RETRY_OF, SENT_AT, UNRESOLVED_SINCE = range(10, 17)
"""Where `queries.CLAIMED_COLUMNS` puts them."""

_FROM_THE_START = (-32_768, "-infinity", UUID(int=0))


@dataclass(frozen=True, slots=True)
class Told:
    """What the last row says."""

    missed: frozenset[TaskId]
    seen: int
    now: Any


def name_of(order: ClaimOrder) -> str:
    """Several queues take a look more than one."""
    several = sum(len(tier) for tier in order.tiers) > 1
    return "turn_over" if several else "turn_over_one_queue"


def values_of(order: ClaimOrder, now: datetime | None, channel: str) -> dict[str, Any]:
    shares = [(share, tier) for tier, pool in enumerate(order.tiers) for share in pool]
    priority, time, task_id = _FROM_THE_START
    return {
        "queues": [share.queue for share, _ in shares],
        "tiers": [tier for _, tier in shares],
        "limits": [share.limit for share, _ in shares],
        "mark_priorities": [priority for _ in shares],
        "mark_times": [time for _ in shares],
        "mark_ids": [task_id for _ in shares],
        "limit": order.most,
        "places": order.limit,
        "light": sorted(order.light),
        "excluded": sorted(order.excluded),
        "passed_over": list(order.passed_over),
        "worker": order.worker,
        "start": order.start,
        "now": now,
        "channel": channel,
        "announcements": [],
    }


def read_last(row: Row) -> Told:
    told = json.loads(row[ARGS])
    missed = frozenset(TaskId(UUID(task_id)) for task_id in told["missed"] or ())
    return Told(missed, told["seen"], row[ELIGIBLE_AT])


def tiers_of(order: ClaimOrder) -> dict[str, int]:
    return {share.queue: tier for tier, pool in enumerate(order.tiers) for share in pool}


def in_order(tasks: Sequence[Task], order: ClaimOrder) -> list[Task]:
    """As they were claimed: the database gives them as they lie."""
    tiers = tiers_of(order)
    return sorted(
        tasks, key=lambda task: (tiers[task.queue], task.priority, task.enqueued_at, task.id)
    )


def claimed_task(row: Row, worker: WorkerId, at: datetime, *, started: bool) -> Task:
    """What a claim does not change comes from its row, the rest is the same for all it takes."""
    return Task(
        id=row[TASK_ID],
        epoch=row[EPOCH],
        name=row[NAME],
        queue=row[QUEUE],
        payload=row[ARGS].encode(),
        attempt=row[ATTEMPT],
        crashes=row[CRASHES],
        terms=decode_terms(row[TERMS], row[RESULT_TTL]),
        priority=row[PRIORITY],
        enqueued_at=row[ELIGIBLE_AT],
        retries=row[RETRIES],
        good_until=row[GOOD_UNTIL],
        headers=row[HEADERS],
        retry_of=row[RETRY_OF],
        sent_at=row[SENT_AT],
        unresolved_since=row[UNRESOLVED_SINCE],
        claimable=False,
        status=TaskStatus.RUNNING if started else TaskStatus.CLAIMED,
        worker=worker,
        claimed_at=at,
        started_at=at if started else None,
    )
