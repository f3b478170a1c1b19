"""What a store answers to a send, and what that means to the sender."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias, assert_never

from horsies.domain.ids import TaskId, minted_at
from horsies.domain.task import NewTask


class SendErrorCode(StrEnum):
    SEND_SUPPRESSED = "SEND_SUPPRESSED"
    VALIDATION_FAILED = "VALIDATION_FAILED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    QUEUE_FULL = "QUEUE_FULL"
    ENQUEUE_FAILED = "ENQUEUE_FAILED"
    PAYLOAD_MISMATCH = "PAYLOAD_MISMATCH"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    REPLAY_TOO_OLD = "REPLAY_TOO_OLD"

    @property
    def retryable(self) -> bool:
        return self is SendErrorCode.ENQUEUE_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Tasks that enter the store together or not at all.

    Only a batch of one carries an idempotency key. A `replay` may meet its own first copy.
    """

    tasks: Sequence[NewTask]
    replay: bool = False
    max_pending: Mapping[str, int] = field(default_factory=dict[str, int])
    key_window: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The task is in the store."""

    id: TaskId


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """A task with this id was there before, live or ended."""

    id: TaskId
    name: str
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyTaken:
    """The idempotency key belongs to an earlier send."""

    id: TaskId
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class QueueFull:
    """The queue holds as many waiting tasks as it may; nothing of the batch was stored."""

    queue: str
    limit: int


Receipt: TypeAlias = Accepted | AlreadyThere | KeyTaken | QueueFull


@dataclass(frozen=True, slots=True)
class Refusal:
    code: SendErrorCode
    message: str


def read_receipt(task: NewTask, receipt: Receipt) -> TaskId | Refusal:
    """The id the sender holds from now on, or why it holds none."""
    match receipt:
        case Accepted(task_id):
            return task_id
        case AlreadyThere(task_id, name, payload):
            if (name, payload) == (task.name, task.payload):
                return task_id
            return Refusal(
                SendErrorCode.PAYLOAD_MISMATCH,
                f"task {task_id} was sent before with another name or other arguments",
            )
        case KeyTaken(task_id, fingerprint):
            if task.idempotency is not None and fingerprint == task.idempotency.fingerprint:
                return task_id
            return Refusal(
                SendErrorCode.IDEMPOTENCY_CONFLICT,
                f"the idempotency key names task {task_id}, which was sent with other arguments",
            )
        case QueueFull(queue, limit):
            return Refusal(
                SendErrorCode.QUEUE_FULL,
                f"queue {queue!r} would hold more than its {limit} waiting tasks (max_pending)",
            )
        case _:
            assert_never(receipt)


def replay_too_old(task: NewTask, now: datetime, retention: timedelta | None) -> bool:
    """Whether the first copy may have been purged, so that it could no longer be recognised."""
    keep = task.terms.result_ttl if task.terms.result_ttl is not None else retention
    minted = minted_at(task.id)
    return keep is not None and minted is not None and now - minted >= keep
