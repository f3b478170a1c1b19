"""What a request to cancel achieves, depending on where the task is."""

from enum import StrEnum

from horsies.domain.task_lifecycle import TaskStatus


class CancelAnswer(StrEnum):
    CANCELLED = "CANCELLED"  # it will never run
    REQUESTED = "REQUESTED"  # it is running; its owner has been asked
    ALREADY_TERMINAL = "ALREADY_TERMINAL"
    NOT_FOUND = "NOT_FOUND"


def answer_cancel(status: TaskStatus | None) -> CancelAnswer:
    if status is None:
        return CancelAnswer.NOT_FOUND
    if status.is_terminal:
        return CancelAnswer.ALREADY_TERMINAL
    return CancelAnswer.REQUESTED if status is TaskStatus.RUNNING else CancelAnswer.CANCELLED
