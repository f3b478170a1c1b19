"""Who is told to claim nothing for now.

It is kept by name: a worker that starts again under that name is still suspended. What a suspended
worker has claimed and not begun goes back to the queue; what it runs goes on.
"""

from dataclasses import dataclass

EVERYBODY = ""
"""Stands where a worker's name would: no worker can be called that."""


@dataclass(frozen=True, slots=True)
class Suspensions:
    """Two things may hold a worker back, its own suspension and that of all; either is enough."""

    names: frozenset[str] = frozenset()

    @property
    def everybody(self) -> bool:
        return EVERYBODY in self.names

    @property
    def by_name(self) -> frozenset[str]:
        return self.names - {EVERYBODY}

    def covers(self, name: str) -> bool:
        """
        >>> Suspensions(frozenset({"mule"})).covers("mule")
        True
        """
        return self.everybody or name in self.names
