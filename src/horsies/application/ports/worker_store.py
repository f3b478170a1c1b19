"""Workers, their leases and their signs of life."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from horsies.domain.ids import WorkerId
from horsies.domain.suspension import Suspensions
from horsies.domain.worker import Pulse, PulseAnswer, Worker


class WorkerStore(Protocol):
    async def beat(self, pulse: Pulse, lease: timedelta) -> PulseAnswer:
        """Register or renew, and record a sign of life for each claim it speaks for and holds."""
        ...

    async def retire(self, worker: WorkerId) -> None:
        """End the lease now: the worker has left in good order."""
        ...

    async def next_lapse(
        self, other_than: WorkerId, after: datetime | None = None
    ) -> datetime | None:
        """When the earliest lease among the others that hold tasks ends, of those after that."""
        ...

    async def server_started_at(self) -> datetime:
        """Since when the store could have heard anybody."""
        ...

    async def suspend(self, name: str) -> None:
        """Keep every worker of that name, or EVERYBODY, from claiming, and tell them."""
        ...

    async def resume(self, name: str) -> None: ...

    async def resume_all(self) -> None:
        """Lift every suspension there is."""
        ...

    async def suspensions(self) -> Suspensions: ...

    async def ping(self, asked_at: datetime) -> None:
        """Ask all who listen to beat at once, and to say that it was for this ping."""
        ...

    async def all(self) -> Sequence[Worker]: ...
