"""The database's time, read with every transaction that begins and carried on in between."""

from datetime import UTC, datetime, timedelta
from time import monotonic


class DatabaseClock:
    """Until it has heard from the database it can only trust the machine."""

    def __init__(self) -> None:
        self._seen = datetime.now(UTC)
        self._at = monotonic()

    def now(self) -> datetime:
        return self._seen + timedelta(seconds=monotonic() - self._at)

    def observe(self, instant: datetime) -> None:
        self._seen, self._at = instant, monotonic()
