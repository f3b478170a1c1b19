"""When silence is taken for death, what is done then, and how long history is kept."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from horsies.application.hrs import Hrs
from horsies.application.settings.checks import Readable, Settings, flag, or_none, whole
from horsies.domain.faults import Fault

_HEARTBEAT = whole(1_000, 120_000)
_RETENTION = or_none(whole(1, 87_600))  # ten years; None keeps for ever
_HEARTBEATS = {
    "claimed_stale_threshold_ms": "claimer_heartbeat_interval_ms",
    "running_stale_threshold_ms": "runner_heartbeat_interval_ms",
}


@dataclass(frozen=True, kw_only=True)
class RecoveryConfig(Settings):
    """What happens to tasks whose worker or process fell silent, and retention.

    The `auto_*` flags switch off every recovery of that state by other workers. A retention of
    None keeps for ever. A task that nobody could resolve is given back for
    `unresolved_grace_ms`, then it fails.

    >>> RecoveryConfig(running_stale_threshold_ms=60_000).running_stale_threshold
    datetime.timedelta(seconds=60)
    """

    auto_requeue_stale_claimed: bool = field(
        default=True,
        metadata={"rule": flag(), "means": "give CLAIMED tasks of a dead worker to others"},
    )
    claimed_stale_threshold_ms: int = field(
        default=120_000,
        metadata={
            "rule": whole(1_000, 3_600_000),
            "means": "silence after which a CLAIMED task is stale",
        },
    )
    claimer_heartbeat_interval_ms: int = field(
        default=30_000,
        metadata={"rule": _HEARTBEAT, "means": "how often a worker speaks for its CLAIMED tasks"},
    )
    auto_fail_stale_running: bool = field(
        default=True,
        metadata={"rule": flag(), "means": "judge RUNNING tasks of a dead worker as crashed"},
    )
    running_stale_threshold_ms: int = field(
        default=300_000,
        metadata={
            "rule": whole(1_000, 7_200_000),
            "means": "silence after which a RUNNING task is stale",
        },
    )
    runner_heartbeat_interval_ms: int = field(
        default=30_000,
        metadata={"rule": _HEARTBEAT, "means": "how often a worker speaks for its RUNNING tasks"},
    )
    check_interval_ms: int = field(
        default=30_000,
        metadata={
            "rule": whole(1_000, 600_000),
            "means": "how often a worker looks for stale tasks",
        },
    )
    heartbeat_retention_hours: int | None = field(
        default=24,
        metadata={"rule": _RETENTION, "means": "how long heartbeats are kept; None: for ever"},
    )
    worker_state_retention_hours: int | None = field(
        default=168,
        metadata={
            "rule": _RETENTION,
            "means": "how long workers that left are remembered; None: for ever",
        },
    )
    terminal_record_retention_hours: int | None = field(
        default=720,
        metadata={"rule": _RETENTION, "means": "how long ended tasks are kept; None: for ever"},
    )
    max_worker_crashes: int = field(
        default=3,
        metadata={"rule": whole(1), "means": "processes a task may kill before it is quarantined"},
    )
    unresolved_grace_ms: int = field(
        default=300_000,
        metadata={
            "rule": whole(0),
            "means": "how long a task that no worker understands waits for one that does",
        },
    )

    @property
    def check_interval(self) -> timedelta:
        return timedelta(milliseconds=self.check_interval_ms)

    @property
    def claimer_heartbeat_interval(self) -> timedelta:
        return timedelta(milliseconds=self.claimer_heartbeat_interval_ms)

    @property
    def runner_heartbeat_interval(self) -> timedelta:
        return timedelta(milliseconds=self.runner_heartbeat_interval_ms)

    @property
    def claimed_stale_threshold(self) -> timedelta:
        return timedelta(milliseconds=self.claimed_stale_threshold_ms)

    @property
    def running_stale_threshold(self) -> timedelta:
        return timedelta(milliseconds=self.running_stale_threshold_ms)

    @property
    def unresolved_grace(self) -> timedelta:
        return timedelta(milliseconds=self.unresolved_grace_ms)

    @property
    def heartbeat_retention(self) -> timedelta | None:
        return _hours(self.heartbeat_retention_hours)

    @property
    def worker_state_retention(self) -> timedelta | None:
        return _hours(self.worker_state_retention_hours)

    @property
    def terminal_record_retention(self) -> timedelta | None:
        return _hours(self.terminal_record_retention_hours)

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        for threshold, interval in _HEARTBEATS.items():
            if not readable(threshold, interval):
                continue
            limit, beat = getattr(self, threshold), getattr(self, interval)
            if limit < 2 * beat:
                yield Fault(
                    Hrs.THRESHOLD_TOO_LOW,
                    f"RecoveryConfig.{threshold} ({limit:_}) is below twice {interval} ({beat:_})",
                    f"raise {threshold} to at least {2 * beat:_}, or lower {interval}",
                    note="one late heartbeat would make the living look dead",
                )


def _hours(hours: int | None) -> timedelta | None:
    return None if hours is None else timedelta(hours=hours)
