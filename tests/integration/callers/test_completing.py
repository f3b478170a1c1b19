"""A task is completed in the caller's transaction, whatever library that is of."""

from contextlib import suppress
from uuid import uuid4

import pytest

from horsies.domain.errors import BrokerError, BrokerFault, CompletionError, CompletionRefusal
from horsies.domain.ids import TaskId
from horsies.domain.task import Claim
from tests.integration.callers.kinds import RESULT

ORDER = "INSERT INTO orders VALUES ('one')"


@pytest.fixture
def running(observer) -> Claim:
    """A task whose code might be the caller."""
    claim = Claim(TaskId(uuid4()), 3)
    observer.connection.execute(
        "INSERT INTO horsies_tasks (id, task_name, queue_name, args, sent_at, enqueued_at,"
        " claimable, status, epoch, attempt, worker_id, claimed_at, started_at) VALUES"
        " (%s, 'ship', 'default', '{}', now(), now(), false, 'RUNNING', 3, 1,"
        " gen_random_uuid(), now(), now())",
        [claim.id],
    )
    return claim


def ended(observer) -> list[tuple[object, ...]]:
    columns = "id, epoch, status, result"
    return observer.connection.execute(f"SELECT {columns} FROM horsies_task_history").fetchall()


def refusal(caller, claim) -> CompletionRefusal:
    with pytest.raises(CompletionError) as caught:
        caller.complete(claim)
    return caught.value.refusal


def test_a_task_is_completed_when_the_transaction_commits_and_not_before(caller, observer, running):
    caller.execute(ORDER)
    caller.complete(running)
    assert (observer.tasks, ended(observer), observer.orders) == (1, [], 0)
    caller.commit()
    assert (observer.tasks, observer.orders) == (0, 1)
    assert ended(observer) == [(running.id, 3, "COMPLETED", RESULT.decode())]


def test_a_rollback_leaves_the_task_running(caller, observer, running):
    caller.execute(ORDER)
    caller.complete(running)
    caller.rollback()
    caller.commit()
    assert (observer.tasks, ended(observer), observer.orders) == (1, [], 0)


def test_who_waits_is_told_by_the_commit(caller, observer, running):
    observer.connection.execute("LISTEN horsies_task_done")
    caller.complete(running)
    caller.commit()
    (told,) = observer.connection.notifies(timeout=10, stop_after=1)
    assert told.payload == running.id.hex


def test_a_claim_that_does_not_hold_is_refused(caller, observer, running):
    assert refusal(caller, Claim(running.id, 2)) is CompletionRefusal.LOST
    caller.rollback()
    assert observer.tasks == 1


def test_a_repetition_is_told_from_a_loss(caller, running):
    caller.complete(running)
    caller.commit()
    assert refusal(caller, running) is CompletionRefusal.REPEATED
    caller.rollback()


def test_a_node_of_a_workflow_is_refused(caller, observer, running):
    observer.connection.execute("UPDATE horsies_tasks SET workflow_id = gen_random_uuid()")
    assert refusal(caller, running) is CompletionRefusal.WORKFLOW_NODE
    caller.rollback()


def test_a_failed_completion_says_what_was_wrong(caller, observer, running):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with pytest.raises(BrokerError, match="horsies db migrate") as caught:
        caller.complete(running)
    assert caught.value.fault is BrokerFault.SCHEMA
    with suppress(Exception):  # how a failed transaction is left is its library's matter
        caller.rollback()
