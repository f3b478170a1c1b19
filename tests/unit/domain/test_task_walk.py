"""Laws that hold at every step of every legal life of a task."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given

from horsies.domain.outcome import Crashed, Succeeded, Unbegun, Unresolved
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import Task, Terms
from horsies.domain.task_lifecycle import TaskStatus
from tests.unit.domain.strategies import (
    NOW,
    SECOND,
    WORKER_ID,
    Step,
    pending,
    settle,
    walks,
)

Walk = Sequence[Step]


def never_began(step: Step) -> bool:
    """Whether a run was handed out and taken back before its first line."""
    rejected = step.name == "reject" and step.before.status is TaskStatus.RUNNING
    return rejected or isinstance(step.outcome, Unbegun | Unresolved)


def visited(walk: Walk) -> list[Task]:
    return [walk[0].before, *(step.after for step in walk)]


@given(walks())
def test_epoch_grows_by_one_at_each_claim_and_never_otherwise(walk: Walk):
    for step in walk:
        assert step.after.epoch - step.before.epoch == (step.name == "claim")


@given(walks())
def test_attempt_grows_by_one_at_each_start_and_never_otherwise(walk: Walk):
    for step in walk:
        assert max(0, step.after.attempt - step.before.attempt) == (step.name == "start")


@given(walks())
def test_an_attempt_is_given_back_only_by_a_run_that_never_began(walk: Walk):
    for step in walk:
        assert step.after.attempt >= step.before.attempt - never_began(step)


@given(walks())
def test_a_run_that_never_began_and_was_not_cancelled_gives_its_attempt_back(walk: Walk):
    for step in walk:
        if never_began(step) and step.after.status is not TaskStatus.CANCELLED:
            assert step.after.attempt == step.before.attempt - 1


@given(walks())
def test_attempts_never_exceed_epochs(walk: Walk):
    for task in visited(walk):
        assert 0 <= task.attempt <= task.epoch


@given(walks())
def test_a_release_costs_nothing(walk: Walk):
    for step in walk:
        if step.name == "release":
            before, after = step.before, step.after
            assert (after.attempt, after.retries, after.crashes) == (
                before.attempt,
                before.retries,
                before.crashes,
            )


@given(walks())
def test_a_released_task_keeps_its_place_in_the_queue(walk: Walk):
    for step in walk:
        if step.name == "release":
            assert step.after.enqueued_at == step.before.enqueued_at


@given(walks())
def test_retries_never_exceed_what_the_policy_grants(walk: Walk):
    for task in visited(walk):
        policy = task.terms.retry
        assert task.retries <= (policy.max_retries if policy else 0)


@given(walks())
def test_retries_grow_by_at_most_one_and_only_when_a_run_is_settled(walk: Walk):
    for step in walk:
        assert step.after.retries - step.before.retries in ({0, 1} if step.outcome else {0})


@given(walks())
def test_crashes_are_counted_only_when_the_process_died(walk: Walk):
    for step in walk:
        died = isinstance(step.outcome, Crashed)
        assert step.after.crashes - step.before.crashes == died


@given(walks())
def test_a_task_has_an_end_exactly_when_it_is_terminal(walk: Walk):
    for task in visited(walk):
        assert (task.finished_at is not None) == task.status.is_terminal


@given(walks())
def test_a_pending_task_belongs_to_nobody(walk: Walk):
    for task in visited(walk):
        if task.status is TaskStatus.PENDING:
            assert (task.worker, task.claimed_at, task.started_at) == (None, None, None)


@given(walks())
def test_a_task_in_flight_belongs_to_a_worker(walk: Walk):
    for task in visited(walk):
        if task.status in {TaskStatus.CLAIMED, TaskStatus.RUNNING}:
            assert task.worker == WORKER_ID


@given(walks())
def test_a_running_task_has_a_start_and_a_claimed_one_has_none(walk: Walk):
    for task in visited(walk):
        if task.status in {TaskStatus.CLAIMED, TaskStatus.RUNNING}:
            assert (task.started_at is not None) == (task.status is TaskStatus.RUNNING)


@given(walks())
def test_only_a_pending_task_is_claimable(walk: Walk):
    for task in visited(walk):
        assert not task.claimable or task.status is TaskStatus.PENDING


@given(walks())
def test_what_was_sent_never_changes(walk: Walk):
    def sent(task: Task) -> tuple[object, ...]:
        return (task.id, task.name, task.queue, task.payload, task.terms, task.sent_at)

    for before, after in pairwise(visited(walk)):
        assert sent(before) == sent(after)


@given(walks())
def test_a_task_waits_for_its_retry_exactly_until_it_is_claimed(walk: Walk):
    for step in walk:
        if step.name == "claim":
            assert step.after.next_retry_at is None
        if step.after.next_retry_at is not None and step.after.status is TaskStatus.PENDING:
            assert step.after.next_retry_at == step.after.enqueued_at


@given(walks())
def test_once_a_cancel_is_requested_no_run_is_retried(walk: Walk):
    for step in walk:
        if step.before.cancel_requested_at is not None:
            assert step.after.retries == step.before.retries


def test_the_example_of_the_page_ends_with_the_numbers_it_gives():
    policy = RetryPolicy.fixed([10, 60], auto_retry_for=["WORKER_CRASHED"])
    released = pending(terms=Terms(retry=policy)).claimed(WORKER_ID, NOW).released(NOW)
    crashed = settle(released.claimed(WORKER_ID, NOW).started(NOW), Crashed(), NOW)
    later = NOW + 10 * SECOND
    task = settle(crashed.claimed(WORKER_ID, later).started(later), Succeeded(), later)
    assert (task.epoch, task.attempt, task.retries, task.crashes) == (3, 2, 1, 1)
