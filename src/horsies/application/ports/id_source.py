"""Fresh identities."""

from typing import Protocol

from horsies.domain.ids import TaskId, WorkerId


class IdSource(Protocol):
    def task_id(self) -> TaskId: ...

    def worker_id(self) -> WorkerId: ...
