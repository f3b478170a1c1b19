"""What the end of a run, or of its process, means for the task."""

import signal

from horsies.adapters.execution import wire
from horsies.adapters.execution.child import End, Held
from horsies.adapters.execution.child_loop import INTERRUPTED
from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode
from horsies.domain.outcome import (
    Crashed,
    Errored,
    Interrupted,
    Outcome,
    ShutDown,
    Succeeded,
    Unbegun,
    Unresolved,
)

SUCCEEDED = Succeeded()


def outcome_of_end(record: wire.Record, asked: End | None) -> Outcome | None:
    """What the child said; None if nobody is to hear of it."""
    if asked is End.LOST:
        return None
    match record:
        case wire.Done():
            return SUCCEEDED
        case wire.Skipped():
            return Unbegun()
        case wire.Ended(kind="succeeded"):
            return SUCCEEDED
        case wire.Ended(kind="errored"):
            return Errored(record.code, record.retryable)
        case wire.Ended(kind="unresolved"):
            return Unresolved(record.code)
        case wire.Ended(kind=kind):
            assert kind == INTERRUPTED
            return _ended_by(asked)


def outcome_of_death(held: Held, *, begun: bool) -> Outcome | None:
    """The same of a run whose process is gone."""
    if held.asked_to_end is End.LOST:
        return None
    if not begun:
        return Unbegun()
    return Crashed() if held.asked_to_end is None else _ended_by(held.asked_to_end)


def story_of_death(status: int) -> str:
    """
    >>> story_of_death(-9), story_of_death(3)
    ('was killed by SIGKILL', 'exited with code 3')
    """
    if status >= 0:
        return f"exited with code {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _ended_by(asked: End | None) -> Outcome:
    match asked:
        case End.SHUTDOWN:
            return ShutDown()
        case End.TIMEOUT:
            return Errored(OutcomeErrorCode.TASK_TIMEOUT)
        case None:  # nobody has asked: it did so itself
            return Errored(OperationalErrorCode.UNHANDLED_EXCEPTION)
        case _:
            return Interrupted()
