"""The life of tasks inside one transaction. Every write is fenced by (id, epoch, status)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from horsies.domain.cancellation import CancelAnswer
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.progress import Progress
from horsies.domain.queue import ClaimOrder, InFlight
from horsies.domain.settlement import Settlement, SettleReport
from horsies.domain.task import Claim, NewTask, Task


class TaskStore(Protocol):
    async def insert(self, tasks: Sequence[NewTask]) -> None:
        """Add follow-up tasks to this transaction; an id that is known is left alone."""
        ...

    async def promote(self, queues: Collection[str], limit: int) -> int:
        """Make due delayed and retrying tasks claimable; how many there were."""
        ...

    async def next_due(self, queues: Collection[str]) -> datetime | None:
        """When the next task that waits for its time becomes eligible."""
        ...

    async def in_flight(self, queues: Collection[str]) -> InFlight:
        """Count under the caps' lock, which holds until the transaction ends."""
        ...

    async def claim(self, order: ClaimOrder) -> Sequence[Task]:
        """Take tasks in order; with `start` they go straight on to RUNNING."""
        ...

    async def held_by(self, worker: WorkerId) -> Sequence[Task]:
        """All that is CLAIMED or RUNNING in this worker's name."""
        ...

    async def agree(self, tasks: Sequence[Task]) -> None:
        """Store the terms of tasks that were sent without any; the epoch is the fence."""
        ...

    async def start(self, claims: Collection[Claim]) -> Sequence[Task]:
        """CLAIMED → RUNNING; what has expired ends instead, what is lost is left out."""
        ...

    async def settle(self, settlements: Sequence[Settlement]) -> SettleReport:
        """Carry out judgements; recognises its own earlier write by the epoch."""
        ...

    async def note_progress(self, told: Mapping[Claim, Progress]) -> None:
        """Of runs that hold their tasks still; a row that somebody has locked is passed over."""
        ...

    async def release(self, claims: Collection[Claim]) -> int:
        """CLAIMED → PENDING, at the place in the queue it had."""
        ...

    async def cancel(self, ids: Collection[TaskId]) -> Mapping[TaskId, CancelAnswer]:
        """End what has not started; ask the owner of what runs."""
        ...
