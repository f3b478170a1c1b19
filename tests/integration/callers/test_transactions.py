"""A send is part of the caller's transaction, whatever library that is of."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.retry import RetryPolicy
from horsies.domain.sending import Accepted, AlreadyThere, KeyTaken, QueueFull
from horsies.domain.task import Terms
from tests.integration.callers.batches import batch_of, keyed, new_task

ORDER = "INSERT INTO orders VALUES ('one')"


def test_a_task_exists_when_the_transaction_commits_and_not_before(caller, observer):
    task = new_task()
    assert caller.send(batch_of(task)) == [Accepted(task.id)]
    assert observer.tasks == 0
    caller.commit()
    assert observer.tasks == 1


def test_a_rollback_leaves_no_task_and_no_key(caller, observer):
    caller.send(batch_of(keyed()))
    caller.rollback()
    caller.commit()
    assert (observer.tasks, observer.keys) == (0, 0)


def test_the_callers_own_rows_share_the_fate_of_the_tasks(caller, observer):
    caller.execute(ORDER)
    caller.send(batch_of(*[new_task() for _ in range(20)]))
    caller.rollback()
    assert (observer.orders, observer.tasks) == (0, 0)
    caller.execute(ORDER)
    caller.send(batch_of(*[new_task() for _ in range(20)]))
    caller.commit()
    assert (observer.orders, observer.tasks) == (1, 20)


def test_a_taken_key_is_recognised_inside_the_transaction(caller, observer):
    first = keyed()
    caller.send(batch_of(first))
    assert caller.send(batch_of(keyed())) == [KeyTaken(first.id, b"\x01\xff")]
    caller.execute(ORDER)
    caller.commit()
    assert (observer.tasks, observer.keys, observer.orders) == (1, 1, 1)


def test_a_replay_is_recognised_inside_the_transaction(caller, observer):
    task = new_task(payload=b'{"n":1}')
    caller.send(batch_of(task))
    caller.commit()
    replay = batch_of(task, new_task(), replay=True)
    assert caller.send(replay) == [
        AlreadyThere(task.id, "ship", b'{"n":1}'),
        Accepted(replay.tasks[1].id),
    ]
    caller.commit()
    assert observer.tasks == 2


def test_a_replay_takes_back_a_second_copy_of_an_ended_task(caller, observer):
    task = new_task()
    observer.connection.execute(
        "INSERT INTO horsies_task_history (id, task_name, queue_name, args, priority, sent_at,"
        " enqueued_at, status, epoch, attempt, retries, crashes, finished_at)"
        " VALUES (%s, 'ship', 'default', '{}', 50, now(), now(), 'COMPLETED', 1, 1, 0, 0, now())",
        [task.id],
    )
    receipts = caller.send(batch_of(task, replay=True))
    assert receipts == [AlreadyThere(task.id, "ship", b"{}")]


def test_a_full_queue_refuses_and_leaves_the_transaction_usable(caller, observer):
    limit = {"default": 1}
    caller.send(batch_of(new_task(), max_pending=limit))
    assert caller.send(batch_of(new_task(), max_pending=limit)) == [QueueFull("default", 1)]
    caller.execute(ORDER)
    caller.commit()
    assert (observer.tasks, observer.orders) == (1, 1)


def test_everything_a_task_carries_arrives_unchanged(caller, observer):
    eta = datetime(2031, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    first = new_task()
    task = new_task(
        payload='{"text":"100% :sure ::text \\\\ é"}'.encode(),
        priority=7,
        eta=eta,
        good_until=eta + timedelta(days=1),
        terms=Terms(
            retry=RetryPolicy.exponential(2, auto_retry_for=["FLAKY"]),
            result_ttl=timedelta(hours=1, microseconds=1),
        ),
        headers={"traceparent": "00-a"},
        retry_of=first.id,
    )
    caller.send(batch_of(task))
    caller.commit()
    row = observer.connection.execute(
        "SELECT id, args, priority, enqueued_at, good_until, result_ttl, headers, retry_of,"
        " claimable FROM horsies_tasks"
    ).fetchone()
    assert row == (
        task.id,
        task.payload.decode(),
        7,
        eta,
        task.good_until,
        task.terms.result_ttl,
        {"traceparent": "00-a"},
        first.id,
        False,
    )


def test_a_delay_counts_from_the_send(caller, observer):
    caller.send(batch_of(new_task(delay=timedelta(hours=2))))
    caller.commit()
    row = observer.connection.execute("SELECT enqueued_at - sent_at FROM horsies_tasks").fetchone()
    assert row == (timedelta(hours=2),)


def test_a_failed_send_says_what_was_wrong(caller, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with pytest.raises(BrokerError, match="horsies db migrate") as caught:
        caller.send(batch_of(new_task(payload=b'{"secret":1}')))
    assert caught.value.fault is BrokerFault.SCHEMA
    assert "secret" not in str(caught.value)


def test_a_failed_send_takes_the_transaction_with_it(caller, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    caller.execute(ORDER)
    with pytest.raises(BrokerError):
        caller.send(batch_of(new_task()))
    with pytest.raises(UnusableConnectionError):
        caller.send(batch_of(new_task()))
    with suppress(Exception):  # how a failed transaction refuses a commit is its library's matter
        caller.commit()
    assert observer.orders == 0


def test_the_connection_is_usable_again_after_a_rollback(caller, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with pytest.raises(BrokerError):
        caller.send(batch_of(new_task()))
    observer.connection.execute("ALTER TABLE elsewhere RENAME TO horsies_tasks")
    caller.rollback()
    caller.send(batch_of(new_task()))
    caller.commit()
    assert observer.tasks == 1


def test_a_connection_that_the_server_ends_is_a_lost_connection(caller, observer):
    caller.execute(ORDER)
    observer.connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with pytest.raises(BrokerError) as caught:
        caller.send(batch_of(new_task()))
    assert caught.value.fault is BrokerFault.CONNECTION
    with suppress(Exception):
        caller.rollback()
