"""What a sender says: the calls, the options beyond the arguments, and whether it may now."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

from horsies.application.settings.app import AppConfig
from horsies.domain.retry import Duration
from horsies.domain.values import is_whole, shown

LOWEST_PRIORITY, HIGHEST_PRIORITY = 100, 1
LONGEST_KEY = 255
LONGEST_MS = 315_360_000_000
"""Ten years."""

_LONGEST_DELAY = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one send."""

    args: tuple[Any, ...] = field(repr=False)
    kwargs: Mapping[str, Any] = field(repr=False)


_importing: ContextVar[bool] = ContextVar("horsies_importing", default=False)


@contextmanager
def no_app_sends() -> Generator[None]:
    """While a module is imported to find its app: until then nobody knows the gate."""
    token = _importing.set(True)
    try:
        yield
    finally:
        _importing.reset(token)


class SendGate:
    """Closed while modules are imported for their tasks: importing code must not send any."""

    def __init__(self) -> None:
        self.shut = False

    @property
    def closed(self) -> bool:
        return self.shut or _importing.get()


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

    def overridden_by(self, given: "SendOptions") -> "SendOptions":
        """These options, with those that were given in their place."""
        changes = {item.name: getattr(given, item.name) for item in fields(given)}
        return replace(self, **{name: new for name, new in changes.items() if new is not None})

    def problems(self, config: AppConfig, count: int) -> tuple[str, ...]:
        """Everything that keeps these options from being carried out for `count` tasks."""
        return (*self._wrong_values(config), *self._contradictions(count))

    @property
    def delay_time(self) -> timedelta | None:
        if self.delay is None or isinstance(self.delay, timedelta):
            return self.delay
        return timedelta(seconds=self.delay)

    @property
    def eta_utc(self) -> datetime | None:
        """Within one zone Python compares wall clocks, which is wrong when clocks change."""
        return None if self.eta is None else _utc(self.eta)

    @property
    def good_until_utc(self) -> datetime | None:
        return None if self.good_until is None else _utc(self.good_until)

    def _wrong_values(self, config: AppConfig) -> Generator[str]:
        if self.queue is not None and not _is_queue(self.queue, config):
            known = ", ".join(repr(queue.name) for queue in config.queues())
            yield f"there is no queue {shown(self.queue)}; the queues are {known}"
        if self.priority is not None and not (
            is_whole(self.priority) and HIGHEST_PRIORITY <= self.priority <= LOWEST_PRIORITY
        ):
            yield f"priority must be a whole number from 1 to 100, not {shown(self.priority)}"
        if self.delay is not None and not _is_delay(self.delay):
            yield (
                f"delay must be a timedelta or seconds, from 0 to {_LONGEST_DELAY.days} days, "
                f"not {shown(self.delay)}; for a moment in time use with_options(eta=...)"
            )
        for name in ("timeout_ms", "result_ttl_ms"):
            value = getattr(self, name)
            if value is not None and not (is_whole(value) and 0 < value <= LONGEST_MS):
                yield f"{name} must be a whole number from 1 to {LONGEST_MS:_}, not {shown(value)}"
        for name in ("eta", "good_until"):
            value = getattr(self, name)
            if value is not None and not _is_instant(value):
                yield f"{name} must be a datetime with a time zone, such as datetime.now(UTC)"
        if self.idempotency_key is not None and not _is_key(self.idempotency_key):
            yield f"idempotency_key must be text of 1 to {LONGEST_KEY} characters without NUL"

    def _contradictions(self, count: int) -> Generator[str]:
        if self.delay is not None and self.eta is not None:
            yield "delay and eta exclude each other: give one of them"
        if (
            _is_instant(self.eta)
            and _is_instant(self.good_until)
            and _utc(self.good_until) <= _utc(self.eta)
        ):
            yield "good_until is not after eta, so the task could never run"
        if self.idempotency_key is not None and count > 1:
            yield "one idempotency_key cannot name several tasks: send them one by one"


NO_OPTIONS = SendOptions()


def _is_queue(value: Any, config: AppConfig) -> bool:
    return isinstance(value, str) and config.queue_named(value) is not None


def _is_delay(value: Any) -> bool:
    if isinstance(value, timedelta):
        return timedelta(0) <= value <= _LONGEST_DELAY
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _LONGEST_DELAY.total_seconds()


def _is_instant(value: Any) -> TypeGuard[datetime]:
    try:
        return isinstance(value, datetime) and value.utcoffset() is not None and bool(_utc(value))
    except OverflowError:  # so near the end of time that it has no equivalent in UTC
        return False


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_KEY and _is_storable(value)


def _is_storable(text: str) -> bool:
    return "\0" not in text and text.encode(errors="replace") == text.encode(errors="ignore")
