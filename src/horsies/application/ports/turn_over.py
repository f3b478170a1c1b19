"""The step that nearly every task takes, for stores that can do it at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from horsies.application.ports.executor import RunReport
from horsies.application.ports.grant import Grant
from horsies.domain.queue import ClaimOrder


@dataclass(frozen=True, slots=True)
class TurnedOver:
    """`unwritten` wait for the slower way, which finds out why; `exhausted` says that the queues
    had no more.
    """

    granted: Sequence[Grant] = ()
    unwritten: Sequence[RunReport] = ()
    exhausted: bool = False


class TurnOver(Protocol):
    """One durable step: what has succeeded is completed, and what is next is claimed."""

    async def __call__(
        self, succeeded: Sequence[RunReport], order: ClaimOrder | None
    ) -> TurnedOver: ...
