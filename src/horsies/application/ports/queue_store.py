"""Queues as operators see them."""

from collections.abc import Sequence
from typing import Protocol

from horsies.domain.queue import QueueDepth
from horsies.domain.task import Claim


class QueueStore(Protocol):
    async def pause(self, queue: str) -> None:
        """From now on nothing of it is claimed; it stays so until it is resumed."""
        ...

    async def resume(self, queue: str) -> bool:
        """Whether it was paused."""
        ...

    async def claimed(self, queue: str) -> Sequence[Claim]:
        """What workers hold of it and have not begun, locked until the transaction ends."""
        ...

    async def all(self) -> Sequence[QueueDepth]:
        """Every queue that holds live tasks or is paused, by name."""
        ...
