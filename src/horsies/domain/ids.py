"""Identities: opaque, time-ordered where they are minted, never reused."""

from datetime import UTC, datetime, timedelta
from typing import NewType
from uuid import UUID, uuid5

TaskId = NewType("TaskId", UUID)
WorkerId = NewType("WorkerId", UUID)

_UUID_VERSION_WITH_TIME = 7
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END_OF_TIME = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


def minted_at(task_id: TaskId) -> datetime | None:
    """When the id was made, if it is a UUIDv7; other versions carry no usable time."""
    if task_id.version != _UUID_VERSION_WITH_TIME:
        return None
    milliseconds = task_id.int >> 80
    return _EPOCH + timedelta(milliseconds=milliseconds) if milliseconds < _END_OF_TIME else None


def failure_handler_id(failed: TaskId, epoch: int) -> TaskId:
    """Derived, so that a repeated FAILED write can never enqueue a second handler."""
    return TaskId(uuid5(failed, f"on_failure:{epoch}"))
