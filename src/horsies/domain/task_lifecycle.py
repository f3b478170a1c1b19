"""The one statement of a task's life: which trigger leads from which state to which."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from horsies.domain.errors import HorsiesError


class TaskStatus(StrEnum):
    PENDING = "PENDING"
    CLAIMED = "CLAIMED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


class Trigger(StrEnum):
    """What can happen to a task."""

    CLAIM = "claim"  # a worker takes it
    START = "start"  # its first line is about to run
    COMPLETE = "complete"  # it returned a value
    FAIL = "fail"  # it returned an error, or its run ended badly, with no retry
    RETRY = "retry"  # its run ended badly and another is due
    UNBEGUN = "unbegun"  # it was handed out but its first line never ran
    RELEASE = "release"  # its claim is given back, or taken back as stale
    REJECT = "reject"  # no worker could make sense of it within the grace
    CANCEL = "cancel"
    EXPIRE = "expire"  # its good_until passed before it started


TRANSITIONS: Mapping[tuple[TaskStatus, Trigger], TaskStatus] = MappingProxyType(
    {
        (TaskStatus.PENDING, Trigger.CLAIM): TaskStatus.CLAIMED,
        (TaskStatus.PENDING, Trigger.REJECT): TaskStatus.FAILED,
        (TaskStatus.PENDING, Trigger.CANCEL): TaskStatus.CANCELLED,
        (TaskStatus.PENDING, Trigger.EXPIRE): TaskStatus.EXPIRED,
        (TaskStatus.CLAIMED, Trigger.START): TaskStatus.RUNNING,
        (TaskStatus.CLAIMED, Trigger.RELEASE): TaskStatus.PENDING,
        (TaskStatus.CLAIMED, Trigger.REJECT): TaskStatus.FAILED,
        (TaskStatus.CLAIMED, Trigger.CANCEL): TaskStatus.CANCELLED,
        (TaskStatus.CLAIMED, Trigger.EXPIRE): TaskStatus.EXPIRED,
        (TaskStatus.RUNNING, Trigger.COMPLETE): TaskStatus.COMPLETED,
        (TaskStatus.RUNNING, Trigger.FAIL): TaskStatus.FAILED,
        (TaskStatus.RUNNING, Trigger.RETRY): TaskStatus.PENDING,
        (TaskStatus.RUNNING, Trigger.UNBEGUN): TaskStatus.PENDING,
        (TaskStatus.RUNNING, Trigger.REJECT): TaskStatus.FAILED,
        (TaskStatus.RUNNING, Trigger.CANCEL): TaskStatus.CANCELLED,
    }
)

TERMINAL = frozenset(
    {TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.EXPIRED}
)
IN_FLIGHT = frozenset({TaskStatus.CLAIMED, TaskStatus.RUNNING})


class IllegalTransitionError(HorsiesError):
    """A state was asked to do what the table does not allow: a defect, never a user's fault."""


def advance(status: TaskStatus, trigger: Trigger) -> TaskStatus:
    try:
        return TRANSITIONS[status, trigger]
    except KeyError:
        raise IllegalTransitionError(f"a {status} task cannot {trigger}") from None


def allowed(status: TaskStatus, trigger: Trigger) -> bool:
    return (status, trigger) in TRANSITIONS
