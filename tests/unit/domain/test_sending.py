"""What a sender learns from the store's receipt, and when a replay comes too late."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.ids import TaskId
from horsies.domain.sending import (
    Accepted,
    AlreadyThere,
    Batch,
    KeyTaken,
    QueueFull,
    Refusal,
    SendErrorCode,
    read_receipt,
    replay_too_old,
)
from horsies.domain.task import IdempotencyKey, Terms
from tests.unit.domain.strategies import (
    MILLISECOND,
    NOW,
    TASK_ID,
    instants,
    new_task,
    seconds,
    uuid7_at,
)

OTHER_ID = TaskId(UUID(int=99))
RETENTION = timedelta(days=30)
TASK = new_task(payload=b'{"n": 1}')
KEYED = new_task(idempotency=IdempotencyKey("order-7", b"print"))


def refusal_code(answer: TaskId | Refusal) -> SendErrorCode:
    assert isinstance(answer, Refusal)
    return answer.code


def test_an_accepted_task_is_held_by_its_id():
    assert read_receipt(TASK, Accepted(TASK_ID)) == TASK_ID


def test_a_replay_that_meets_its_own_first_copy_is_a_success():
    assert read_receipt(TASK, AlreadyThere(TASK_ID, TASK.name, TASK.payload)) == TASK_ID


@pytest.mark.parametrize(("name", "payload"), [("other", TASK.payload), (TASK.name, b"{}")])
def test_an_id_that_was_used_for_something_else_is_refused(name, payload):
    answer = read_receipt(TASK, AlreadyThere(TASK_ID, name, payload))
    assert refusal_code(answer) is SendErrorCode.PAYLOAD_MISMATCH


def test_a_key_that_was_used_for_the_same_send_gives_the_first_task():
    assert read_receipt(KEYED, KeyTaken(OTHER_ID, b"print")) == OTHER_ID


def test_a_key_that_was_used_for_another_send_is_a_conflict():
    answer = read_receipt(KEYED, KeyTaken(OTHER_ID, b"another print"))
    assert refusal_code(answer) is SendErrorCode.IDEMPOTENCY_CONFLICT


def test_a_taken_key_is_a_conflict_for_a_task_that_has_none():
    answer = read_receipt(TASK, KeyTaken(OTHER_ID, b"print"))
    assert refusal_code(answer) is SendErrorCode.IDEMPOTENCY_CONFLICT


def test_a_full_queue_refuses_and_says_which_and_why():
    answer = read_receipt(TASK, QueueFull("mail", 100))
    assert answer == Refusal(
        SendErrorCode.QUEUE_FULL,
        "queue 'mail' would hold more than its 100 waiting tasks (max_pending)",
    )


def test_a_refusal_names_the_task_in_the_way():
    answer = read_receipt(KEYED, KeyTaken(OTHER_ID, b"another print"))
    assert isinstance(answer, Refusal)
    assert str(OTHER_ID) in answer.message


def test_a_refusal_never_shows_arguments():
    answer = read_receipt(TASK, AlreadyThere(TASK_ID, TASK.name, b"secret"))
    assert "secret" not in repr(answer)


@pytest.mark.parametrize("code", SendErrorCode)
def test_only_a_failed_enqueue_is_worth_another_try(code):
    assert code.retryable == (code == "ENQUEUE_FAILED")


def test_the_codes_of_a_send_are_the_agreed_ones():
    assert set(SendErrorCode) == {
        "SEND_SUPPRESSED",
        "VALIDATION_FAILED",
        "PAYLOAD_TOO_LARGE",
        "QUEUE_FULL",
        "ENQUEUE_FAILED",
        "PAYLOAD_MISMATCH",
        "IDEMPOTENCY_CONFLICT",
        "REPLAY_TOO_OLD",
    }


def test_keys_are_kept_for_a_day_unless_told():
    assert Batch(tasks=[TASK]).key_window == timedelta(hours=24)


def test_a_batch_is_no_replay_unless_told():
    assert not Batch(tasks=[TASK]).replay


@given(instants, seconds, seconds)
def test_a_replay_is_too_old_once_the_retention_has_passed(now, age, retention):
    task = new_task(id=uuid7_at(now - age))
    minted = now - age - timedelta(microseconds=now.microsecond % 1000)
    assert replay_too_old(task, now, retention) == (now - minted >= retention)


def test_a_replay_exactly_as_old_as_the_retention_is_too_old():
    assert replay_too_old(new_task(id=uuid7_at(NOW - RETENTION)), NOW, RETENTION)


def test_a_replay_a_millisecond_younger_than_the_retention_is_welcome():
    task = new_task(id=uuid7_at(NOW - RETENTION + MILLISECOND))
    assert not replay_too_old(task, NOW, RETENTION)


def test_a_replay_from_a_clock_that_runs_ahead_is_welcome():
    assert not replay_too_old(new_task(id=uuid7_at(NOW + RETENTION)), NOW, RETENTION)


def test_without_retention_no_replay_is_too_old():
    task = new_task(id=uuid7_at(NOW - timedelta(days=10_000)))
    assert not replay_too_old(task, NOW, None)


@given(st.uuids(version=4), seconds)
def test_an_id_that_carries_no_time_is_never_too_old(uuid, retention):
    assert not replay_too_old(new_task(id=TaskId(uuid)), NOW, retention)


@pytest.mark.parametrize("retention", [RETENTION, None], ids=["a month", "for ever"])
def test_a_task_that_is_kept_for_less_than_the_retention_is_too_old_earlier(retention):
    """Its own time to live overrides the retention, so its first copy may be gone by then."""
    two_hours_ago = uuid7_at(NOW - timedelta(hours=2))
    task = new_task(id=two_hours_ago, terms=Terms(result_ttl=timedelta(hours=1)))
    assert replay_too_old(task, NOW, retention)
