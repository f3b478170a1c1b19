"""The judgement on a run, ready to be written."""

from collections.abc import Collection
from dataclasses import dataclass

from horsies.domain.outcome import Complete, Fail, GiveBack, Reject, RetryAt, Verdict
from horsies.domain.task import Claim, Task
from horsies.domain.task_lifecycle import TaskStatus


@dataclass(frozen=True, slots=True)
class Settlement:
    """What to write about a claimed task; `result` is opaque to everyone but the codec."""

    claim: Claim
    verdict: Verdict
    result: bytes | None = None
    crashed: bool = False

    @property
    def returns_to_queue(self) -> bool:
        return isinstance(self.verdict, RetryAt | GiveBack)

    @property
    def error_code(self) -> str | None:
        match self.verdict:
            case Fail(code) | Reject(code) | RetryAt(_, code):
                return code
            case _:
                return None


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What was not written: claims that are lost, and returns to the queue of tasks that
    somebody wants cancelled."""

    lost: Collection[Claim] = ()
    cancel_requested: Collection[Claim] = ()


def same_ending(settlement: Settlement, ended: Task) -> bool:
    """Whether an ended task is this settlement's own earlier, unacknowledged write."""
    if ended.epoch != settlement.claim.epoch:
        return False
    match settlement.verdict:
        case Complete():
            return ended.status is TaskStatus.COMPLETED
        case Fail(code) | Reject(code):
            return (ended.status, ended.error_code) == (TaskStatus.FAILED, code)
        case _:
            return ended.status is TaskStatus.CANCELLED
