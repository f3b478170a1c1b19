"""A task that fails calls its handler, once, and nothing else does."""

import pytest

from horsies.domain.outcome import Crashed, Errored, Interrupted, ShutDown, Succeeded
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import FailureHandler, Task, Terms
from tests.unit.domain.strategies import (
    BOOM,
    NOW,
    WORKER_ID,
    claimed,
    ended_by,
    pending,
    running,
    settle,
)

TWICE = RetryPolicy.fixed([10, 20], auto_retry_for=[BOOM])
POLICY = Terms(retry=TWICE)
CLEAN_UP = FailureHandler(name="clean_up", queue="janitor", priority=7)
WATCHED = Terms(on_failure=CLEAN_UP)
FAILED = ended_by(Errored(BOOM), terms=WATCHED)


@pytest.mark.parametrize(
    "task",
    [
        FAILED,
        ended_by(Crashed(), terms=WATCHED),
        ended_by(ShutDown(), terms=WATCHED),
        pending(terms=WATCHED).rejected(BOOM, NOW, None),
        claimed(terms=WATCHED).rejected(BOOM, NOW, None),
    ],
    ids=["errored", "crashed", "shut down", "rejected pending", "rejected claimed"],
)
def test_every_failure_calls_the_handler(task: Task):
    call = task.failure_call(b"{}")
    assert call is not None
    assert call.name == "clean_up"


@pytest.mark.parametrize(
    "task",
    [
        pending(terms=WATCHED),
        claimed(terms=WATCHED),
        running(terms=WATCHED),
        ended_by(Succeeded(), terms=WATCHED),
        ended_by(Interrupted(), terms=WATCHED),
        pending(terms=WATCHED).cancelled(NOW),
        pending(terms=WATCHED).expired(NOW),
    ],
    ids=lambda task: str(task.status),
)
def test_nothing_but_a_failure_calls_the_handler(task: Task):
    assert task.failure_call(b"{}") is None


def test_a_failure_without_handler_calls_nobody():
    assert ended_by(Errored(BOOM)).failure_call(b"{}") is None


def test_the_handler_is_sent_as_it_asked_with_the_given_payload():
    call = FAILED.failure_call(b"why")
    assert call is not None
    assert (call.queue, call.priority, call.payload) == ("janitor", 7, b"why")


def test_a_repeated_failure_write_calls_the_same_task():
    first, second = FAILED.failure_call(b"{}"), FAILED.failure_call(b"{}")
    assert first is not None
    assert second is not None
    assert first.id == second.id


def test_a_failure_of_another_epoch_calls_another_task():
    later = settle(
        pending(terms=WATCHED)
        .claimed(WORKER_ID, NOW)
        .released(NOW)
        .claimed(WORKER_ID, NOW)
        .started(NOW),
        Errored(BOOM),
        NOW,
    )
    first, second = FAILED.failure_call(b"{}"), later.failure_call(b"{}")
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_the_handlers_own_handler_is_dropped():
    handler = FailureHandler(name="clean_up", queue="q", terms=Terms(on_failure=CLEAN_UP))
    call = ended_by(Errored(BOOM), terms=Terms(on_failure=handler)).failure_call(b"{}")
    assert call is not None
    assert call.terms.on_failure is None


def test_the_handlers_other_terms_are_kept():
    handler = FailureHandler(name="clean_up", queue="q", terms=POLICY)
    call = ended_by(Errored(BOOM), terms=Terms(on_failure=handler)).failure_call(b"{}")
    assert call is not None
    assert call.terms.retry == TWICE
