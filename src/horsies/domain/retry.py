"""When a task is tried again, and after how long."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias, cast

from horsies.domain.backoff import exponential, spread
from horsies.domain.codes import OperationalErrorCode, known_code
from horsies.domain.values import is_whole, shown

MAX_RETRIES = 20
LONGEST_DELAY = timedelta(days=365)
_FINITE_SECONDS = 1e9  # what a timedelta holds without overflowing; NaN is not below it

Duration: TypeAlias = float | timedelta
"""Seconds or a timedelta."""

RetryReason: TypeAlias = str | type[BaseException]
"""An error code or an exception class."""


@dataclass(frozen=True, slots=True)
class FixedDelays:
    """One wait per retry."""

    delays: tuple[timedelta, ...]

    def before(self, retry: int, jitter: float) -> timedelta:
        return spread(self.delays[min(retry, len(self.delays)) - 1], jitter)


@dataclass(frozen=True, slots=True)
class Exponential:
    """A wait that doubles, up to a cap."""

    base: timedelta
    max_delay: timedelta

    def before(self, retry: int, jitter: float) -> timedelta:
        return exponential(self.base, retry - 1, self.max_delay, jitter)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, after how long, and for which failures a task is tried again.

    Build one with `fixed` or `exponential`. A policy that makes no sense still comes into
    being, with its `problems`, so that the task's definition can report them together with
    everything else that is wrong with it.

    >>> RetryPolicy.fixed([1, 5, 25]).max_retries
    3
    """

    backoff: FixedDelays | Exponential
    max_retries: int
    codes: frozenset[str]
    exceptions: tuple[type[BaseException], ...] = ()
    problems: tuple[str, ...] = ()

    @classmethod
    def fixed(
        cls,
        delays: Sequence[Duration],
        *,
        auto_retry_for: Iterable[RetryReason] = (Exception,),
    ) -> "RetryPolicy":
        """One retry per delay."""
        problems: list[str] = []
        if isinstance(delays, str | bytes) or not isinstance(delays, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            problems.append("the delays must be a list of seconds or timedeltas")
            delays = ()
        waits = tuple(_wait(delay, "delay", problems) for delay in delays)
        if not problems and not 1 <= len(waits) <= MAX_RETRIES:
            problems.append(f"it needs 1 to {MAX_RETRIES} delays, not {len(waits)}")
        return cls._with_reasons(FixedDelays(waits), len(waits), auto_retry_for, problems)

    @classmethod
    def exponential(
        cls,
        base: Duration,
        max_retries: int = 3,
        max_delay: Duration = timedelta(hours=1),
        *,
        auto_retry_for: Iterable[RetryReason] = (Exception,),
    ) -> "RetryPolicy":
        """`base`, twice `base`, four times `base` … and never more than `max_delay`."""
        problems: list[str] = []
        first = _wait(base, "base", problems)
        cap = _wait(max_delay, "max_delay", problems)
        if not problems and first <= timedelta(0):
            problems.append("base must be above zero")
        if not problems and cap < first:
            problems.append("max_delay must not be below base")
        if not is_whole(max_retries) or not 1 <= max_retries <= MAX_RETRIES:
            problems.append(
                f"max_retries must be a whole number from 1 to {MAX_RETRIES}, "
                f"not {shown(max_retries)}"
            )
        return cls._with_reasons(Exponential(first, cap), max_retries, auto_retry_for, problems)

    @classmethod
    def _with_reasons(
        cls,
        backoff: FixedDelays | Exponential,
        max_retries: int,
        reasons: Iterable[RetryReason],
        problems: list[str],
    ) -> "RetryPolicy":
        codes: set[str] = set()
        exceptions: list[type[BaseException]] = []
        for reason in _listed(reasons):
            if isinstance(reason, str) and reason:
                codes.add(known_code(reason))
            elif isinstance(reason, type) and issubclass(reason, BaseException):
                exceptions.append(reason)
            else:
                problems.append("auto_retry_for takes error codes and exception classes only")
        if not codes and not exceptions and not problems:
            problems.append("auto_retry_for is empty, so nothing would ever be retried")
        return cls(backoff, max_retries, frozenset(codes), tuple(exceptions), tuple(problems))

    def including(self, code: str) -> "RetryPolicy":
        return replace(self, codes=self.codes | {code})

    def snapshot(self) -> "RetryPolicy":
        """What is stored with the task: exception classes stay where the code is."""
        return replace(self, exceptions=())

    def covers(self, code: str) -> bool:
        return code in self.codes

    def covers_exception(self, exception: BaseException) -> bool:
        return isinstance(exception, self.exceptions)

    @property
    def survives_shutdown(self) -> bool:
        """Whoever may run again after a crash may run again after an orderly stop."""
        return bool(
            self.codes & {OperationalErrorCode.WORKER_CRASHED, OperationalErrorCode.WORKER_SHUTDOWN}
        )

    def delay_before(self, retry: int, jitter: float) -> timedelta:
        """The wait before the given retry, counting from 1."""
        return self.backoff.before(retry, jitter)


def _listed(reasons: object) -> Iterable[object]:
    if isinstance(reasons, str | type):
        return [reasons]
    return cast("Iterable[object]", reasons) if isinstance(reasons, Iterable) else [reasons]


def _wait(value: object, name: str, problems: list[str]) -> timedelta:
    if isinstance(value, timedelta):
        wait = value
    elif (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < _FINITE_SECONDS
    ):
        wait = timedelta(seconds=value)
    else:
        problems.append(f"{name} must be seconds or a timedelta, not {shown(value)}")
        return timedelta(0)
    if not timedelta(0) <= wait <= LONGEST_DELAY:
        problems.append(
            f"{name} must lie between 0 and {LONGEST_DELAY.days} days, not {shown(value)}"
        )
    return wait


IDEMPOTENT_DEFAULT = RetryPolicy.exponential(
    1, max_retries=3, auto_retry_for=[OperationalErrorCode.WORKER_CRASHED]
)
"""What `idempotent=True` means where no policy is given."""
