"""A task: what was sent, what has happened to it, and the only ways it may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from horsies.domain.codes import OutcomeErrorCode
from horsies.domain.ids import TaskId, WorkerId, failure_handler_id
from horsies.domain.outcome import (
    Cancel,
    Complete,
    Fail,
    GiveBack,
    Reject,
    RetryAt,
    Standing,
    Verdict,
)
from horsies.domain.retry import RetryPolicy
from horsies.domain.task_lifecycle import IllegalTransitionError, TaskStatus, Trigger, advance

DEFAULT_PRIORITY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was agreed at send and is stored with the task, whatever is deployed later.

    A task that was sent by plain SQL has not `agreed` to any before a worker claims it.
    """

    agreed: bool = True
    retry: RetryPolicy | None = None
    timeout: timedelta | None = None
    result_ttl: timedelta | None = None
    on_failure: "FailureHandler | None" = None


NO_TERMS = Terms()
NOT_AGREED = Terms(agreed=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureHandler:
    """The task to be sent when this one fails."""

    name: str
    queue: str
    priority: int = DEFAULT_PRIORITY
    terms: Terms = NO_TERMS


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A producer's own name for a send; the fingerprint tells a repeat from a conflict."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """A task on its way to the store."""

    id: TaskId
    name: str
    queue: str
    payload: bytes = field(default=b"{}", repr=False)
    priority: int = DEFAULT_PRIORITY
    delay: timedelta | None = None
    eta: datetime | None = None
    good_until: datetime | None = None
    terms: Terms = NO_TERMS
    idempotency: IdempotencyKey | None = None
    headers: Mapping[str, str] | None = None
    retry_of: TaskId | None = None

    def eligible_at(self, now: datetime) -> datetime:
        if self.eta is not None:
            return max(self.eta, now)
        return max(now + self.delay, now) if self.delay is not None else now


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write about a task: it holds while the task's epoch is this one."""

    id: TaskId
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One begun run and how it ended."""

    task_id: TaskId
    epoch: int
    number: int
    worker: WorkerId | None
    started_at: datetime | None
    finished_at: datetime
    error_code: str | None
    result: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task as the store knows it. Every method is one edge of the lifecycle."""

    id: TaskId
    name: str
    queue: str
    payload: bytes = field(repr=False)
    priority: int
    terms: Terms
    good_until: datetime | None
    headers: Mapping[str, str] | None
    retry_of: TaskId | None
    sent_at: datetime
    enqueued_at: datetime
    claimable: bool
    status: TaskStatus = TaskStatus.PENDING
    epoch: int = 0
    attempt: int = 0
    retries: int = 0
    crashes: int = 0
    worker: WorkerId | None = None
    claimed_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    next_retry_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    unresolved_since: datetime | None = None
    error_code: str | None = None
    result: bytes | None = field(default=None, repr=False)

    @classmethod
    def sent(cls, new: NewTask, now: datetime) -> "Task":
        enqueued_at = new.eligible_at(now)
        return cls(
            id=new.id,
            name=new.name,
            queue=new.queue,
            payload=new.payload,
            priority=new.priority,
            terms=new.terms,
            good_until=new.good_until,
            headers=new.headers,
            retry_of=new.retry_of,
            sent_at=now,
            enqueued_at=enqueued_at,
            claimable=enqueued_at <= now,
        )

    @property
    def claim(self) -> Claim:
        return Claim(self.id, self.epoch)

    @property
    def key(self) -> bytes:
        """The id as it travels."""
        return self.id.bytes

    @property
    def task(self) -> "Task":
        """Who holds a task holds all there is to know of it."""
        return self

    @property
    def expires(self) -> bool:
        return self.good_until is not None

    @property
    def standing(self) -> Standing:
        return Standing(
            retries=self.retries,
            crashes=self.crashes,
            policy=self.terms.retry,
            good_until=self.good_until,
            cancel_requested=self.cancel_requested_at is not None,
            unresolved_since=self.unresolved_since,
        )

    def promoted(self) -> "Task":
        _expect(self, TaskStatus.PENDING, "promoted")
        return _changed(self, claimable=True)

    def claimed(self, worker: WorkerId, now: datetime) -> "Task":
        return _changed(
            self,
            status=advance(self.status, Trigger.CLAIM),
            epoch=self.epoch + 1,
            worker=worker,
            claimed_at=now,
            claimable=False,
            next_retry_at=None,
            error_code=None,
        )

    def started(self, now: datetime) -> "Task":
        return _changed(
            self,
            status=advance(self.status, Trigger.START),
            attempt=self.attempt + 1,
            started_at=now,
        )

    def released(self, now: datetime) -> "Task":
        return _back_to_pending(self, Trigger.RELEASE, now, self.enqueued_at)

    def cancelled(self, now: datetime) -> "Task":
        return _ended(self, Trigger.CANCEL, now, OutcomeErrorCode.TASK_CANCELLED)

    def expired(self, now: datetime) -> "Task":
        return _ended(self, Trigger.EXPIRE, now, OutcomeErrorCode.TASK_EXPIRED)

    def rejected(self, code: str, now: datetime, result: bytes | None) -> "Task":
        return _ended(_unbegun(self), Trigger.REJECT, now, code, result)

    def cancel_requested(self, now: datetime) -> "Task":
        _expect(self, TaskStatus.RUNNING, "asked to stop")
        return _changed(self, cancel_requested_at=self.cancel_requested_at or now)

    def settled(self, verdict: Verdict, now: datetime, result: bytes | None) -> "Task":
        """The task after the judgement on its run was carried out."""
        match verdict:
            case Complete():
                return _ended(self, Trigger.COMPLETE, now, None, result)
            case Fail(code):
                return _ended(self, Trigger.FAIL, now, code, result)
            case Cancel(begun):
                return (self if begun else _unbegun(self)).cancelled(now)
            case Reject(code):
                return self.rejected(code, now, result)
            case RetryAt(at, _, free):
                retry = _back_to_pending(self, Trigger.RETRY, now, at)
                return _changed(
                    retry,
                    retries=self.retries + (not free),
                    next_retry_at=at,
                    unresolved_since=None,  # it was understood: it has run
                )
            case GiveBack(at, unresolved):
                place = at or self.enqueued_at
                back = _back_to_pending(_unbegun(self), Trigger.UNBEGUN, now, place)
                since = self.unresolved_since or now if unresolved else self.unresolved_since
                return _changed(back, unresolved_since=since, error_code=unresolved)
            case _:
                assert_never(verdict)

    def crash_counted(self) -> "Task":
        _expect(self, TaskStatus.RUNNING, "counted as crashed")
        return _changed(self, crashes=self.crashes + 1)

    def attempt_ended(self, now: datetime, code: str | None, result: bytes | None) -> Attempt:
        """The record of the run that just ended."""
        return Attempt(
            task_id=self.id,
            epoch=self.epoch,
            number=self.attempt,
            worker=self.worker,
            started_at=self.started_at,
            finished_at=now,
            error_code=code,
            result=result,
        )

    def final_attempt(self) -> Attempt | None:
        """The last run of an ended task, read off the task itself; none if it never began."""
        if self.started_at is None or self.finished_at is None:
            return None
        return self.attempt_ended(self.finished_at, self.error_code, self.result)

    def failure_call(self, payload: bytes) -> NewTask | None:
        """The handler to be sent because this task failed; its own `on_failure` is dropped."""
        handler = self.terms.on_failure
        if handler is None or self.status is not TaskStatus.FAILED:
            return None
        return NewTask(
            id=failure_handler_id(self.id, self.epoch),
            name=handler.name,
            queue=handler.queue,
            payload=payload,
            priority=handler.priority,
            terms=replace(handler.terms, on_failure=None),
        )


def _unbegun(task: Task) -> Task:
    """The task without the run that was handed out but never began."""
    if task.status is not TaskStatus.RUNNING:
        return task
    return _changed(task, attempt=task.attempt - 1, started_at=None)


def _back_to_pending(task: Task, trigger: Trigger, now: datetime, at: datetime) -> Task:
    return _changed(
        task,
        status=advance(task.status, trigger),
        enqueued_at=at,
        claimable=at <= now,
        worker=None,
        claimed_at=None,
        started_at=None,
    )


def _ended(
    task: Task,
    trigger: Trigger,
    now: datetime,
    code: str | None = None,
    result: bytes | None = None,
) -> Task:
    return _changed(
        task,
        status=advance(task.status, trigger),
        finished_at=now,
        claimable=False,
        error_code=code,
        result=result,
    )


def _expect(task: Task, status: TaskStatus, deed: str) -> None:
    if task.status is not status:
        raise IllegalTransitionError(f"a {task.status} task cannot be {deed}")


def _changed(task: Task, **changes: Any) -> Task:
    """What `dataclasses.replace` does, several times faster: a life is five of these."""
    assert changes.keys() <= task.__dict__.keys(), f"no such fields: {changes.keys()}"
    changed = object.__new__(Task)
    changed.__dict__.update(task.__dict__, **changes)
    return changed
