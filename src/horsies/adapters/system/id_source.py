"""Time-ordered ids: new rows land at the end of their indexes, and equal instants stay in order."""

from uuid import uuid4

from uuid_utils.compat import uuid7

from horsies.domain.ids import TaskId, WorkerId


class Uuid7Source:
    def task_id(self) -> TaskId:
        return TaskId(uuid7())

    def worker_id(self) -> WorkerId:
        return WorkerId(uuid4())
