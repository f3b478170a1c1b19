"""Hearing what happens elsewhere, sooner than one would find out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from horsies.domain.ids import TaskId


class Hearer(Protocol):
    def news(self) -> None:
        """Something may have been sent; also told when nobody could hear for a while."""
        ...

    def cancels(self, ids: Sequence[TaskId]) -> None:
        """Somebody wants these to end; their owner may be anyone."""
        ...

    def changes(self) -> None:
        """What a worker may do has changed, perhaps for this one: it is to look."""
        ...

    def pings(self, asked_at: datetime) -> None:
        """Somebody wants to know who is there; the instant is theirs, to be given back."""
        ...


class Announcements(Protocol):
    """A hint, never a promise: whatever is announced can be found by looking."""

    async def listen(self, hearer: Hearer) -> None:
        """Until it is cancelled, whatever happens to the connection."""
        ...
