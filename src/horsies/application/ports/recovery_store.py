"""What the reaper finds. What is found is locked until the transaction ends."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from horsies.domain.ids import TaskId
from horsies.domain.task import Task


class RecoveryStore(Protocol):
    async def stale_claimed(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        """CLAIMED tasks without a sign of life since `silent_since`, or of a lapsed worker."""
        ...

    async def stale_running(
        self, silent_since: datetime | None, lapsed_at: datetime | None, limit: int
    ) -> Sequence[Task]:
        """The same for RUNNING."""
        ...

    async def expire(self, limit: int) -> Sequence[TaskId]:
        """PENDING tasks past their good_until end as EXPIRED."""
        ...

    async def unresolved(self, since_before: datetime, limit: int) -> Sequence[Task]:
        """PENDING tasks that no worker has understood since before that instant."""
        ...

    async def reject(self, task: Task, code: str, result: bytes) -> bool:
        """End a waiting task that nobody understands; False if it moved meanwhile."""
        ...

    async def purge(self, retention: timedelta | None, limit: int) -> int:
        """Forget ended tasks past their time, and idempotency keys past their window."""
        ...

    async def purge_heartbeats(self, before: datetime, limit: int) -> int: ...

    async def purge_workers(self, before: datetime, limit: int) -> int:
        """Forget workers whose lease ended before that instant."""
        ...
