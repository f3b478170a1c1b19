"""The judgement on a run, ready to be written."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import TypeAlias

from horsies.domain.outcome import Cancel, Fail, GiveBack, Reject, RetryAt, Verdict
from horsies.domain.task import Attempt, Claim, Task
from horsies.domain.task_lifecycle import TaskStatus


@dataclass(frozen=True, slots=True)
class Settlement:
    """What to write about a claimed task; `result` is opaque to everyone but the codec.

    `cancel_prevails` says that the judgement would be another if a cancel was asked for
    meanwhile: then nothing is written, and the run is judged again.
    """

    claim: Claim
    verdict: Verdict
    result: bytes | None = field(default=None, repr=False)
    crashed: bool = False
    cancel_prevails: bool = False

    @property
    def yields_to_cancel(self) -> bool:
        """What goes back to the queue always does."""
        return self.cancel_prevails or isinstance(self.verdict, RetryAt | GiveBack)

    @property
    def error_code(self) -> str | None:
        match self.verdict:
            case Fail(code) | Reject(code) | RetryAt(_, code):
                return code
            case _:
                return None


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What was not written this time.

    Claims that are lost, runs that yield to a cancel request, and repetitions: of a write whose
    acknowledgement was lost, or that the run itself has made. That one did everything already.
    """

    lost: Collection[Claim] = ()
    cancel_requested: Collection[Claim] = ()
    repeated: Collection[Claim] = ()


class Unwritten(Enum):
    """Why a settlement was not carried out."""

    LOST = auto()
    CANCEL_REQUESTED = auto()
    REPEATED = auto()


@dataclass(frozen=True, slots=True)
class Written:
    """The task as it is to be stored, and the run to be put on record if another follows."""

    task: Task
    attempt: Attempt | None = None


Carried: TypeAlias = Written | Unwritten


@dataclass(frozen=True, slots=True)
class Known:
    """What a store knows about the task of a settlement: live, ended, and the run on record."""

    live: Task | None = None
    ended: Task | None = None
    attempt: Attempt | None = None


def carry_out(settlement: Settlement, known: Known, now: datetime) -> Carried:
    """The fence and the judgement in one: what is to be written, or why nothing is."""
    task = held(known.live, settlement.claim, TaskStatus.RUNNING)
    if task is None:
        return Unwritten.REPEATED if _is_own_earlier_write(settlement, known) else Unwritten.LOST
    if settlement.yields_to_cancel and task.cancel_requested_at is not None:
        return Unwritten.CANCEL_REQUESTED
    if settlement.crashed:
        task = task.crash_counted()
    after = task.settled(settlement.verdict, now, settlement.result)
    if isinstance(settlement.verdict, RetryAt):
        return Written(after, task.attempt_ended(now, settlement.error_code, settlement.result))
    return Written(after)


def held(task: Task | None, claim: Claim, status: TaskStatus) -> Task | None:
    """The fence: the task, if this claim still holds and the task is where it should be."""
    if task is None or task.epoch != claim.epoch or task.status is not status:
        return None
    return task


def report(carried: Mapping[Claim, Carried]) -> SettleReport:
    def claims(kind: Unwritten) -> list[Claim]:
        return [claim for claim, answer in carried.items() if answer is kind]

    return SettleReport(
        claims(Unwritten.LOST), claims(Unwritten.CANCEL_REQUESTED), claims(Unwritten.REPEATED)
    )


def _is_own_earlier_write(settlement: Settlement, known: Known) -> bool:
    """Whether the acknowledgement of this very settlement was lost the first time."""
    if known.ended is not None and same_ending(settlement, known.ended):
        return True
    if isinstance(settlement.verdict, RetryAt):
        attempt = known.attempt
        return attempt is not None and attempt.error_code == settlement.error_code
    waiting = held(known.live, settlement.claim, TaskStatus.PENDING)
    return isinstance(settlement.verdict, GiveBack) and waiting is not None


def same_ending(settlement: Settlement, ended: Task) -> bool:
    """Whether an ended task is this settlement's own earlier, unacknowledged write."""
    if ended.epoch != settlement.claim.epoch:
        return False
    if ended.status is TaskStatus.COMPLETED:  # only the run of this epoch can have done that,
        return True  # maybe by itself, in a transaction of its own: however it went on
    if settlement.yields_to_cancel and ended.status is TaskStatus.CANCELLED:
        return True
    match settlement.verdict:
        case Fail(code) | Reject(code):
            return (ended.status, ended.error_code) == (TaskStatus.FAILED, code)
        case Cancel():
            return ended.status is TaskStatus.CANCELLED
        case RetryAt(_, code):  # refused for a cancel and judged again, it became a failure
            failed = (ended.status, ended.error_code) == (TaskStatus.FAILED, code)
            return failed and ended.cancel_requested_at is not None
        case _:
            return False
