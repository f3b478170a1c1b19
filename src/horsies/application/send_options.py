"""What a sender may say about one send beyond the arguments."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from horsies.application.settings.app import AppConfig
from horsies.domain.retry import Duration

LOWEST_PRIORITY, HIGHEST_PRIORITY = 100, 1
LONGEST_KEY = 255
_LONGEST_DELAY = timedelta(days=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOptions:
    queue: str | None = None
    priority: int | None = None
    delay: Duration | None = None
    eta: datetime | None = None
    good_until: datetime | None = None
    timeout_ms: int | None = None
    result_ttl_ms: int | None = None
    idempotency_key: str | None = None
    connection: object | None = None

    def problems(self, config: AppConfig, count: int) -> tuple[str, ...]:
        """Everything that keeps these options from being carried out for `count` tasks."""
        return (*self._wrong_values(config), *self._contradictions(count))

    @property
    def delay_time(self) -> timedelta | None:
        if self.delay is None or isinstance(self.delay, timedelta):
            return self.delay
        return timedelta(seconds=self.delay)

    def _wrong_values(self, config: AppConfig) -> Generator[str]:
        if self.queue is not None and config.queue_named(self.queue) is None:
            known = ", ".join(repr(queue.name) for queue in config.queues())
            yield f"there is no queue {self.queue!r}; the queues are {known}"
        if self.priority is not None and not (
            _is_whole(self.priority) and HIGHEST_PRIORITY <= self.priority <= LOWEST_PRIORITY
        ):
            yield f"priority must be a whole number from 1 (first) to 100, not {self.priority!r}"
        if self.delay is not None and not _is_delay(self.delay):
            yield f"delay must be seconds or a timedelta, and not negative: {self.delay!r}"
        for name in ("timeout_ms", "result_ttl_ms"):
            value = getattr(self, name)
            if value is not None and not (_is_whole(value) and value > 0):
                yield f"{name} must be a whole number above 0, not {value!r}"
        for name in ("eta", "good_until"):
            value = getattr(self, name)
            if value is not None and not _is_instant(value):
                yield f"{name} must be a datetime with a time zone, such as datetime.now(UTC)"
        if self.idempotency_key is not None and not _is_key(self.idempotency_key):
            yield f"idempotency_key must be text of 1 to {LONGEST_KEY} characters without NUL"

    def _contradictions(self, count: int) -> Generator[str]:
        if self.delay is not None and self.eta is not None:
            yield "delay and eta exclude each other: give one of them"
        if _is_instant(self.eta) and _is_instant(self.good_until) and self.good_until <= self.eta:
            yield "good_until is not after eta, so the task could never run"
        if self.idempotency_key is not None and count > 1:
            yield "one idempotency_key cannot name several tasks: send them one by one"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_delay(value: Any) -> bool:
    if isinstance(value, timedelta):
        return timedelta(0) <= value <= _LONGEST_DELAY
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _LONGEST_DELAY.total_seconds()


def _is_instant(value: Any) -> TypeGuard[datetime]:
    return isinstance(value, datetime) and value.utcoffset() is not None


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_KEY and _is_storable(value)


def _is_storable(text: str) -> bool:
    return "\0" not in text and text.encode(errors="replace") == text.encode(errors="ignore")
