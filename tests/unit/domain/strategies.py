"""What the laws of the domain are tried on: instants, policies, tasks and whole lives."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import uuid_utils
from hypothesis import strategies as st

from horsies.domain.codes import OperationalErrorCode
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.outcome import (
    Crashed,
    Errored,
    Interrupted,
    Outcome,
    Rules,
    ShutDown,
    Succeeded,
    Unbegun,
    Unresolved,
    judge,
)
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import NewTask, Task, Terms
from horsies.domain.task_lifecycle import TaskStatus

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)
MICROSECOND = timedelta(microseconds=1)
EVEN = 0.5  # the draw that leaves a wait as it is

TASK_ID = TaskId(UUID(int=1))
WORKER_ID = WorkerId(UUID(int=2))
RULES = Rules()

BOOM = "BOOM"
ERROR_CODES = [
    BOOM,
    OperationalErrorCode.WORKER_CRASHED,
    OperationalErrorCode.WORKER_SHUTDOWN,
    OperationalErrorCode.UNHANDLED_EXCEPTION,
]

jitters = st.floats(min_value=0, max_value=1, exclude_max=True)
instants = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis takes naive bounds and adds the zone
seconds = st.integers(1, 3600).map(lambda n: n * SECOND)
reasons = st.lists(st.sampled_from(ERROR_CODES), min_size=1, unique=True)


def fixed_policies() -> st.SearchStrategy[RetryPolicy]:
    return st.builds(
        RetryPolicy.fixed,
        st.lists(st.integers(0, 3600), min_size=1, max_size=20),
        auto_retry_for=reasons,
    )


@st.composite
def exponential_policies(draw: st.DrawFn) -> RetryPolicy:
    base = draw(seconds)
    return RetryPolicy.exponential(
        base,
        max_retries=draw(st.integers(1, 20)),
        max_delay=base + draw(st.integers(0, 86_400)) * SECOND,
        auto_retry_for=draw(reasons),
    )


def policies() -> st.SearchStrategy[RetryPolicy]:
    return fixed_policies() | exponential_policies()


errors = st.builds(Errored, st.sampled_from(ERROR_CODES), st.booleans())
bad_ends = errors | st.just(Crashed())
unresolved = st.just(Unresolved(OperationalErrorCode.WORKER_RESOLUTION_ERROR))
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    bad_ends,
    st.just(ShutDown()),
    st.just(Unbegun()),
    unresolved,
    st.just(Interrupted()),
    st.just(Succeeded()),
)


def uuid7_at(instant: datetime) -> TaskId:
    """A real UUIDv7 of that millisecond."""
    milliseconds = (instant - datetime(1970, 1, 1, tzinfo=UTC)) // MILLISECOND
    return TaskId(UUID(int=uuid_utils.uuid7(nanoseconds=milliseconds * 1_000_000).int))


def new_task(**changes: object) -> NewTask:
    return NewTask(**{"id": TASK_ID, "name": "resize", "queue": "default"} | changes)


def pending(**changes: object) -> Task:
    return Task.sent(new_task(**changes), NOW)


def claimed(**changes: object) -> Task:
    return pending(**changes).claimed(WORKER_ID, NOW)


def running(**changes: object) -> Task:
    return claimed(**changes).started(NOW)


def in_state(status: TaskStatus) -> Task:
    """A task that got there by the shortest way."""
    match status:
        case TaskStatus.PENDING:
            return pending()
        case TaskStatus.CLAIMED:
            return claimed()
        case TaskStatus.RUNNING:
            return running()
        case TaskStatus.COMPLETED:
            return ended_by(Succeeded())
        case TaskStatus.FAILED:
            return ended_by(Errored(BOOM))
        case TaskStatus.CANCELLED:
            return pending().cancelled(NOW)
        case TaskStatus.EXPIRED:
            return pending().expired(NOW)


def ended_by(outcome: Outcome, **changes: object) -> Task:
    return settle(running(**changes), outcome, NOW)


def settle(task: Task, outcome: Outcome, now: datetime, jitter: float = EVEN) -> Task:
    """What a worker does when a run has ended."""
    verdict = judge(outcome, task.standing, RULES, now, jitter)
    counted = task.crash_counted() if isinstance(outcome, Crashed) else task
    return counted.settled(verdict, now, b"result")


@dataclass(frozen=True)
class Step:
    """One thing that happened to a task."""

    name: str
    before: Task
    after: Task
    outcome: Outcome | None = None


Move = tuple[str, Callable[[Task, datetime], Task]]

CLAIM: Move = ("claim", lambda task, now: task.claimed(WORKER_ID, now))
START: Move = ("start", lambda task, now: task.started(now))
RELEASE: Move = ("release", lambda task, now: task.released(now))
PROMOTE: Move = ("promote", lambda task, _: task.promoted())
CANCEL: Move = ("cancel", lambda task, now: task.cancelled(now))
EXPIRE: Move = ("expire", lambda task, now: task.expired(now))
REJECT: Move = ("reject", lambda task, now: task.rejected(BOOM, now, b"result"))
ASK: Move = ("ask to cancel", lambda task, now: task.cancel_requested(now))

# Endings are rare, so that walks are long.
MOVES: dict[TaskStatus, list[Move]] = {
    TaskStatus.PENDING: [*[CLAIM] * 12, PROMOTE, CANCEL, EXPIRE, REJECT],
    TaskStatus.CLAIMED: [*[START] * 9, *[RELEASE] * 4, CANCEL, EXPIRE, REJECT],
    TaskStatus.RUNNING: [ASK, CANCEL, REJECT],
}


@st.composite
def walks(draw: st.DrawFn, longest: int = 25) -> Sequence[Step]:
    """Every step of a random legal life, judged at the end of each run."""
    policy = draw(st.none() | policies())
    good_until = draw(st.none() | st.integers(1, 10**6).map(lambda n: NOW + n * SECOND))
    task = pending(
        terms=Terms(retry=policy),
        good_until=good_until,
        delay=draw(st.none() | seconds),
    )
    now, steps = NOW, list[Step]()
    while len(steps) < longest and not task.status.is_terminal:
        now += draw(st.integers(0, 600)) * SECOND
        step = _step(draw, task, now)
        steps.append(step)
        task = step.after
    return steps


def _step(draw: st.DrawFn, task: Task, now: datetime) -> Step:
    if task.status is TaskStatus.RUNNING and draw(st.integers(0, 9)):
        outcome = draw(outcomes)
        return Step("settle", task, settle(task, outcome, now, draw(jitters)), outcome)
    name, move = draw(st.sampled_from(MOVES[task.status]))
    return Step(name, task, move(task, now))


def starts_in_a_life(policy: RetryPolicy | None, ends: Iterable[Outcome], jitter: float) -> int:
    """How often a task begins when its runs end so, one after the other."""
    task, now = pending(terms=Terms(retry=policy)), NOW
    for outcome in ends:
        if task.status.is_terminal:
            break
        now = max(now, task.enqueued_at)
        task = settle(task.claimed(WORKER_ID, now).started(now), outcome, now, jitter)
    return task.attempt
