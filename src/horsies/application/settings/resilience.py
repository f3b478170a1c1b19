"""How patient a worker is with its database."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from horsies.application.settings.checks import Readable, Settings, too_low, whole
from horsies.domain.faults import Fault


@dataclass(frozen=True, kw_only=True)
class WorkerResilienceConfig(Settings):
    """A lost database is tried again after `db_retry_initial_ms`, doubling up to `db_retry_max_ms`.

    `db_retry_max_attempts=0` never gives up. `notify_poll_interval_ms` is how often a worker looks
    for tasks although nothing was announced.

    >>> WorkerResilienceConfig(db_retry_max_attempts=10).db_retry_initial_ms
    500
    """

    db_retry_initial_ms: int = field(
        default=500,
        metadata={
            "rule": whole(100, 60_000),
            "means": "the first wait after the database was lost; it doubles from there",
        },
    )
    db_retry_max_ms: int = field(
        default=30_000, metadata={"rule": whole(500, 300_000), "means": "the longest such wait"}
    )
    db_retry_max_attempts: int = field(
        default=0,
        metadata={"rule": whole(0, 10_000), "means": "tries before the worker gives up; 0: never"},
    )
    notify_poll_interval_ms: int = field(
        default=5_000,
        metadata={
            "rule": whole(1_000, 300_000),
            "means": "how often a worker looks although nobody notified it",
        },
    )

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        return too_low(self, readable, "db_retry_max_ms", "db_retry_initial_ms")
