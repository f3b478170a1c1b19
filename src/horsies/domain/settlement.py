"""The judgement on a run, ready to be written."""

from collections.abc import Collection
from dataclasses import dataclass, field

from horsies.domain.outcome import Cancel, Complete, Fail, GiveBack, Reject, RetryAt, Verdict
from horsies.domain.task import Claim, Task
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

    Claims that are lost, runs that yield to a cancel request, and repetitions of a write whose
    acknowledgement was lost: that one did everything already.
    """

    lost: Collection[Claim] = ()
    cancel_requested: Collection[Claim] = ()
    repeated: Collection[Claim] = ()


def same_ending(settlement: Settlement, ended: Task) -> bool:
    """Whether an ended task is this settlement's own earlier, unacknowledged write."""
    if ended.epoch != settlement.claim.epoch:
        return False
    if settlement.yields_to_cancel and ended.status is TaskStatus.CANCELLED:
        return True
    match settlement.verdict:
        case Complete():
            return ended.status is TaskStatus.COMPLETED
        case Fail(code) | Reject(code):
            return (ended.status, ended.error_code) == (TaskStatus.FAILED, code)
        case Cancel():
            return ended.status is TaskStatus.CANCELLED
        case RetryAt(_, code):  # refused for a cancel and judged again, it became a failure
            failed = (ended.status, ended.error_code) == (TaskStatus.FAILED, code)
            return failed and ended.cancel_requested_at is not None
        case _:
            return False
