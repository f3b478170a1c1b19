"""Ending a task inside a transaction of its own code."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from horsies.domain.task import Claim

StillOpen: TypeAlias = Callable[[], bool]
"""Whether the connection is inside a transaction at this moment."""


class Completer(Protocol):
    """RUNNING → COMPLETED, fenced by the epoch, if and only if the caller's transaction commits.

    Raises CompletionError if the claim does not hold (any more), or the task is a workflow's.
    """

    def complete(self, claim: Claim, result: bytes, connection: object) -> StillOpen: ...

    async def complete_async(
        self, claim: Claim, result: bytes, connection: object
    ) -> StillOpen: ...
