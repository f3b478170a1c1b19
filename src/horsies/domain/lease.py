"""When silence means death: leases of workers and staleness of tasks.

After an outage nobody is stale yet. So silence is counted from the latest of three instants:
the last sign of life, the start of the server, and the moment since when the observer itself
has been watching without a break. The functions give the *cutoff* that a store compares with;
`None` means that the watch is too young to call anybody dead.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Watch:
    """Since when silence could have been noticed."""

    server_started_at: datetime
    connected_since: datetime

    @property
    def since(self) -> datetime:
        return max(self.server_started_at, self.connected_since)


def stale_cutoff(now: datetime, threshold: timedelta, watch: Watch) -> datetime | None:
    """Signs of life at or before the cutoff are too old."""
    cutoff = now - threshold
    return cutoff if watch.since <= cutoff else None


def lapsed_cutoff(now: datetime, lease: timedelta, watch: Watch) -> datetime | None:
    """Leases that end at or before the cutoff have lapsed."""
    return now if watch.since <= now - lease else None


def next_judgement(
    lapse: datetime | None, judged_at: datetime, lease: timedelta, watch: Watch
) -> datetime | None:
    """When a lapse can be judged that could not be at `judged_at`.

    One that could is left alone for a reason: it would be met again and again.
    """
    if lapse is None:
        return None
    judged = max(lapse, watch.since + lease)
    return judged if judged > judged_at else None


def last_sign_of_life(*signs: datetime | None) -> datetime | None:
    return max((sign for sign in signs if sign is not None), default=None)


def renew_every(lease: timedelta) -> timedelta:
    """A quarter of the lease: three renewals may be lost before it lapses."""
    return lease / 4
