"""Workers, their leases and their signs of life."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from horsies.domain.ids import WorkerId
from horsies.domain.worker import Pulse, PulseAnswer, Worker


class WorkerStore(Protocol):
    async def beat(self, pulse: Pulse, lease: timedelta) -> PulseAnswer:
        """Register or renew, and record a sign of life for each claim still held."""
        ...

    async def retire(self, worker: WorkerId) -> None:
        """End the lease now: the worker has left in good order."""
        ...

    async def next_lapse(self, other_than: WorkerId) -> datetime | None:
        """When the earliest lease among the others that hold tasks ends."""
        ...

    async def server_started_at(self) -> datetime:
        """Since when the store could have heard anybody."""
        ...

    async def all(self) -> Sequence[Worker]: ...
