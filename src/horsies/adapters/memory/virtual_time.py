"""Time and chance under the control of a test."""

from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID

from horsies.domain.ids import TaskId, WorkerId

_VERSION_AND_VARIANT = (7 << 76) | (0b10 << 62)
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class VirtualClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("the virtual clock needs an aware datetime, such as datetime.now(UTC)")
        if start < _EPOCH:
            raise ValueError("the virtual clock cannot begin before 1970: ids carry the time since")
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        if by < timedelta(0):
            raise ValueError("time does not run backwards")
        self._now += by

    def advance_to(self, instant: datetime) -> None:
        self._now = max(self._now, instant.astimezone(UTC))


class VirtualIds:
    """UUIDv7s of the virtual time, counted instead of random: the same in every run."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._count = count(1)

    def task_id(self) -> TaskId:
        milliseconds = (self._clock.now() - _EPOCH) // _MILLISECOND
        return TaskId(UUID(int=milliseconds << 80 | _VERSION_AND_VARIANT | next(self._count)))

    def worker_id(self) -> WorkerId:
        return WorkerId(UUID(int=next(self._count)))


class EvenDice:
    """Always the middle: waits are exactly as declared."""

    def roll(self) -> float:
        return 0.5
