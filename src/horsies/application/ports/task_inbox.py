"""Where producers drop tasks: one durable step, sync or async."""

from collections.abc import Sequence
from typing import Protocol

from horsies.domain.errors import HorsiesError
from horsies.domain.sending import Batch, Receipt


class UnusableConnectionError(HorsiesError):
    """What was given as `connection=` is nothing that a send can use."""


class TaskInbox(Protocol):
    """A receipt per task, in order. Raises `BrokerError` when the outcome is unknown.

    `connection` is the caller's own: the tasks then exist if and only if its transaction
    commits.
    """

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]: ...

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]: ...
