"""How a run ended, and the judgement of what that means for the task."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias, assert_never

from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode
from horsies.domain.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The task returned a value."""


@dataclass(frozen=True, slots=True)
class Errored:
    """The task returned an error, raised, timed out or gave something unusable.

    `retryable` is the child's word that the exception's class is one to retry for.
    """

    code: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process that had begun the task died."""


@dataclass(frozen=True, slots=True)
class ShutDown:
    """The worker stopped in an orderly way and the task did not end within the grace."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The task gave way to a cancel."""


@dataclass(frozen=True, slots=True)
class Unbegun:
    """The task was handed out, but its first line never ran."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """This worker does not know the task's name, or its arguments do not fit: also unbegun."""

    code: str


Outcome: TypeAlias = Succeeded | Errored | Crashed | ShutDown | Interrupted | Unbegun | Unresolved


@dataclass(frozen=True, slots=True)
class Complete:
    """RUNNING → COMPLETED."""


@dataclass(frozen=True, slots=True)
class Fail:
    """RUNNING → FAILED."""

    code: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """RUNNING → CANCELLED; no attempt is on record if not a line of it ran."""

    begun: bool = True


@dataclass(frozen=True, slots=True)
class RetryAt:
    """RUNNING → PENDING, the attempt is on record; `free` costs no retry."""

    at: datetime
    code: str
    free: bool = False


@dataclass(frozen=True, slots=True)
class GiveBack:
    """RUNNING → PENDING as if it had never been handed out.

    Without a time it keeps its place in the queue. `unresolved` is the code of a task that this
    worker could not make sense of: it starts the grace.
    """

    at: datetime | None = None
    unresolved: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """RUNNING → FAILED although no line of it ran: nobody knew what to do with it."""

    code: str


Verdict: TypeAlias = Complete | Fail | Cancel | RetryAt | GiveBack | Reject


@dataclass(frozen=True, slots=True)
class Standing:
    """What the judge must know about the task."""

    retries: int = 0
    crashes: int = 0
    policy: RetryPolicy | None = None
    good_until: datetime | None = None
    cancel_requested: bool = False
    unresolved_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits that hold for every task of an application."""

    max_worker_crashes: int = 3
    unresolved_grace: timedelta = timedelta(milliseconds=300_000)


FIRST_UNRESOLVED_DELAY = timedelta(seconds=5)


def judge(
    outcome: Outcome, standing: Standing, rules: Rules, now: datetime, jitter: float
) -> Verdict:
    """What happens to a task whose run ended so; `jitter` is a draw from [0, 1)."""
    match outcome:
        case Succeeded():
            return Complete()
        case Interrupted():
            return Cancel()
        case Unbegun():
            return Cancel(begun=False) if standing.cancel_requested else GiveBack()
        case Errored(code, retryable):
            return _judge_error(code, standing, now, jitter, matched=retryable)
        case Crashed():
            return _judge_crash(standing, rules, now, jitter)
        case ShutDown():
            return _judge_shutdown(standing, now)
        case Unresolved(code):
            return _judge_unresolved(code, standing, rules, now)
        case _:
            assert_never(outcome)


def _judge_error(
    code: str, standing: Standing, now: datetime, jitter: float, *, matched: bool
) -> Verdict:
    """A cancel takes precedence over a timeout, but what the task returned by itself stands."""
    if standing.cancel_requested and code == OutcomeErrorCode.TASK_TIMEOUT:
        return Cancel()
    return _retry_or_fail(code, standing, now, jitter, matched=matched)


def _retry_or_fail(
    code: str, standing: Standing, now: datetime, jitter: float, *, matched: bool = False
) -> Verdict:
    policy = standing.policy
    if policy is None or standing.cancel_requested or standing.retries >= policy.max_retries:
        return Fail(code)
    if not matched and not policy.covers(code):
        return Fail(code)
    at = now + policy.delay_before(standing.retries + 1, jitter)
    return Fail(code) if is_expired(standing.good_until, at) else RetryAt(at, code)


def _judge_crash(standing: Standing, rules: Rules, now: datetime, jitter: float) -> Verdict:
    if standing.cancel_requested:
        return Cancel()
    if standing.crashes + 1 >= rules.max_worker_crashes:
        return Fail(OutcomeErrorCode.TASK_QUARANTINED)
    return _retry_or_fail(OperationalErrorCode.WORKER_CRASHED, standing, now, jitter)


def _judge_shutdown(standing: Standing, now: datetime) -> Verdict:
    if standing.cancel_requested:
        return Cancel()
    code = OperationalErrorCode.WORKER_SHUTDOWN
    may_run_again = standing.policy is not None and standing.policy.survives_shutdown
    if not may_run_again or is_expired(standing.good_until, now):
        return Fail(code)
    return RetryAt(now, code, free=True)


def _judge_unresolved(code: str, standing: Standing, rules: Rules, now: datetime) -> Verdict:
    if standing.cancel_requested:
        return Cancel(begun=False)
    waited = now - (standing.unresolved_since or now)
    if waited >= rules.unresolved_grace:
        return Reject(code)
    # Waiting as long as it has waited already, and 5 s more, doubles the delay each time.
    return GiveBack(now + waited + FIRST_UNRESOLVED_DELAY, unresolved=code)


def is_expired(good_until: datetime | None, at: datetime) -> bool:
    """Whether a start at `at` would come too late."""
    return good_until is not None and at >= good_until
