"""Judging finished runs and writing the judgement, with everything that follows from it."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from horsies.application.ports.clock import Clock
from horsies.application.ports.codec import Codec
from horsies.application.ports.dice import Dice
from horsies.application.ports.executor import RunReport, Usage
from horsies.application.ports.unit_of_work import Transaction
from horsies.domain.codes import ContractErrorCode, OperationalErrorCode, OutcomeErrorCode
from horsies.domain.outcome import Complete, Crashed, Fail, Reject, Rules, Succeeded, judge
from horsies.domain.result import TaskError
from horsies.domain.settlement import Settlement
from horsies.domain.task import Claim, NewTask, Task

_EXPLANATIONS: dict[str, str] = {
    OperationalErrorCode.WORKER_CRASHED: "the process that ran the task died",
    OperationalErrorCode.WORKER_SHUTDOWN: "the worker stopped before the task ended",
    OutcomeErrorCode.TASK_TIMEOUT: "the task did not end within its timeout",
    OutcomeErrorCode.TASK_CANCELLED: "the task was cancelled while it ran",
    OutcomeErrorCode.TASK_QUARANTINED: "the task has killed its process too often to be run again",
    OperationalErrorCode.WORKER_RESOLUTION_ERROR: "no worker knew this task within the grace",
    ContractErrorCode.ARGUMENT_MISMATCH: "no worker could read the arguments within the grace",
}


@dataclass(frozen=True, slots=True)
class SettleTasks:
    """Judge, write, and send the failure handlers of what has failed: all in one transaction."""

    codec: Codec
    clock: Clock
    dice: Dice
    rules: Rules

    async def __call__(self, tx: Transaction, reports: Sequence[RunReport]) -> Collection[Claim]:
        """Settle these runs; gives the claims that were lost, whose results are discarded."""
        if not reports:
            return ()
        now = self.clock.now()
        settlements = {report.grant.claim: self._settle(report, now) for report in reports}
        answer = await tx.tasks.settle(list(settlements.values()))
        if answer.cancel_requested:
            refused = set(answer.cancel_requested)
            again = [_cancelling(report) for report in reports if report.grant.claim in refused]
            settlements |= {report.grant.claim: self._settle(report, now) for report in again}
            await tx.tasks.settle([settlements[report.grant.claim] for report in again])
        lost = frozenset(answer.lost)
        unwritten = lost.union(answer.repeated)
        written = [report for report in reports if report.grant.claim not in unwritten]
        handlers = self._handlers(written, settlements, now)
        if handlers:
            await tx.tasks.insert(handlers)
        return lost

    def _settle(self, report: RunReport, now: datetime) -> Settlement:
        if isinstance(report.outcome, Succeeded):  # whatever else is known of the task
            return Settlement(report.grant.claim, Complete(), report.result)
        standing, jitter = report.task.standing, self.dice.roll()
        verdict = judge(report.outcome, standing, self.rules, now, jitter)
        cancelling = replace(standing, cancel_requested=True)
        settlement = Settlement(
            report.grant.claim,
            verdict,
            report.result,
            crashed=isinstance(report.outcome, Crashed),
            cancel_prevails=verdict != judge(report.outcome, cancelling, self.rules, now, jitter),
        )
        code = settlement.error_code
        if code is None or report.result is not None:
            return settlement
        return replace(settlement, result=self.explain(code, report.detail, report.usage))

    def explain(self, code: str, detail: str | None = None, usage: Usage | None = None) -> bytes:
        """An error for a task that could not tell of its end itself."""
        data = None if usage is None else asdict(usage)
        return self.codec.encode_error(TaskError(code, detail or _EXPLANATIONS.get(code), data))

    def _handlers(
        self,
        written: Sequence[RunReport],
        settlements: dict[Claim, Settlement],
        now: datetime,
    ) -> list[NewTask]:
        handlers: list[NewTask] = []
        for report in written:
            settlement = settlements[report.grant.claim]
            if isinstance(settlement.verdict, Fail | Reject):
                ended = report.task.settled(settlement.verdict, now, settlement.result)
                handlers += self.failure_handlers(ended)
        return handlers

    def failure_handlers(self, ended: Task) -> list[NewTask]:
        """The `on_failure` task of a failed one, if it has any."""
        if ended.terms.on_failure is None or ended.result is None:
            return []
        call = ended.failure_call(self.codec.encode_failure_call(ended.id, ended.result))
        return [call] if call is not None else []


def _cancelling(report: RunReport) -> RunReport:
    """The same run, judged in the knowledge that a cancel was asked for meanwhile."""
    task = report.task.cancel_requested(report.task.started_at or report.task.sent_at)
    return replace(report, grant=task)
