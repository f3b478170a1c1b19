"""Who is measured, and with which options."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

PEERS_VENV = ("pgqueuer", "celery", "procrastinate", "dbos", "chancy")
"""Those that live in an environment of their own."""
BATCHES = (100, 500, 1_000)


@dataclass(frozen=True, slots=True)
class Entrant:
    """One queue with certain options, drained of one kind of task."""

    name: str
    queue: str
    task: str = "noop"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    workers: int = 1
    """How often what its users would start is started."""
    server: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """Settings of its database."""

    def running(self, task: str) -> Self:
        return replace(self, task=task)

    def named(self, name: str, *, workers: int = 1, **options: Any) -> Self:
        return replace(self, name=name, options={**self.options, **options}, workers=workers)

    def on(self, **server: str) -> Self:
        return replace(self, server=server)


def each_once(entrants: Iterable[Entrant]) -> Sequence[Entrant]:
    """For what a worker's batch does not matter to; the prototype can do no more than drain."""
    found = {entrant.queue: entrant for entrant in entrants if entrant.queue != "prototype"}
    return [entrant.named(entrant.name.partition(",")[0]) for entrant in found.values()]


HORSIES = Entrant("Horsies", "horsies")
PROTOTYPE = Entrant("prototype", "prototype")
RAW = Entrant("raw INSERT", "raw")
PGQUEUERS = tuple(
    Entrant(f"PgQueuer, batch {size}", "pgqueuer", options={"batch": size}) for size in BATCHES
)
CELERY = Entrant("Celery", "celery")
PROCRASTINATE = Entrant("Procrastinate", "procrastinate")
DBOS = Entrant("DBOS", "dbos")
CHANCY = Entrant("Chancy", "chancy")
PEERS = (*PGQUEUERS, CELERY, PROCRASTINATE, DBOS, CHANCY)
