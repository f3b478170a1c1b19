"""A request to cancel is answered by where the task is."""

import pytest

from horsies.domain.cancellation import CancelAnswer, answer_cancel
from horsies.domain.task_lifecycle import TaskStatus

ANSWERS = {
    None: CancelAnswer.NOT_FOUND,
    TaskStatus.PENDING: CancelAnswer.CANCELLED,
    TaskStatus.CLAIMED: CancelAnswer.CANCELLED,
    TaskStatus.RUNNING: CancelAnswer.REQUESTED,
    TaskStatus.COMPLETED: CancelAnswer.ALREADY_TERMINAL,
    TaskStatus.FAILED: CancelAnswer.ALREADY_TERMINAL,
    TaskStatus.CANCELLED: CancelAnswer.ALREADY_TERMINAL,
    TaskStatus.EXPIRED: CancelAnswer.ALREADY_TERMINAL,
}


@pytest.mark.parametrize("status", [None, *TaskStatus])
def test_every_state_has_its_answer(status: TaskStatus | None):
    assert answer_cancel(status) is ANSWERS[status]


@pytest.mark.parametrize("answer", CancelAnswer)
def test_every_answer_can_be_given(answer: CancelAnswer):
    assert answer in ANSWERS.values()


@pytest.mark.parametrize("answer", CancelAnswer)
def test_an_answer_reads_as_its_name(answer: CancelAnswer):
    assert str(answer) == answer.name
