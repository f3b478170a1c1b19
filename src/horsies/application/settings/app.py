"""The configuration of an application."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, Self

from horsies.application.hrs import Hrs
from horsies.application.settings.checks import (
    Readable,
    Rule,
    Settings,
    instance_of,
    or_none,
    sequence_of,
    shown,
    whole,
)
from horsies.application.settings.mapper import error_code_faults, freeze_mapper, mapper_faults
from horsies.application.settings.postgres import PostgresConfig
from horsies.application.settings.queues import CustomQueueConfig, QueueMode, duplicate_faults
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.domain.codes import OperationalErrorCode, known_code
from horsies.domain.faults import Fault
from horsies.domain.outcome import Rules
from horsies.domain.queue import DEFAULT_QUEUE, Queue

_LARGEST_PAYLOAD = 256 * 2**20  # PostgreSQL takes a field of 1 GB, in text form twice the bytes


def _mode_faults(name: str, value: str) -> Iterator[Fault]:
    if value.lower() not in set(QueueMode):
        yield Fault(
            Hrs.OUT_OF_RANGE,
            f"{name} cannot be {shown(value)}",
            "pass QueueMode.DEFAULT or QueueMode.CUSTOM",
        )


def _same_name_faults(name: str, queues: Iterable[CustomQueueConfig]) -> Iterator[Fault]:
    return duplicate_faults(name, (queue.name for queue in queues))


_BROKER = instance_of(PostgresConfig, 'a PostgresConfig("postgresql://...")')
_MODE = Rule(
    "a QueueMode",
    lambda value: isinstance(value, str),
    _mode_faults,
    lambda value: QueueMode(value.lower()),
)
_QUEUES = sequence_of(instance_of(CustomQueueConfig), _same_name_faults)
_MAPPER = Rule(
    "an exception mapper",
    lambda _: True,
    lambda name, value: mapper_faults(name, value, Hrs.BAD_MAPPER),
    freeze_mapper,
)
_ERROR_CODE = Rule(
    "an error code",
    lambda _: True,
    lambda name, value: error_code_faults(name, value, Hrs.BAD_MAPPER),
    known_code,
)


@dataclass(frozen=True, kw_only=True)
class AppConfig(Settings):
    """Everything that the processes of one application agree upon.

    Without a `broker` the database is looked up in the environment when it is first needed.
    `cluster_wide_cap` limits what all workers together hold; `prefetch_buffer` is what one worker
    may hold beyond what it runs. A worker that does not renew its lease for `claim_lease_ms` is
    taken for dead. `exception_mapper` and `default_unhandled_error_code` name the errors that
    raised exceptions become, unless their task says otherwise; so does `default_timeout_ms` limit
    a run. An idempotency key is remembered for `idempotency_window_hours`.

    >>> config = AppConfig(
    ...     broker=PostgresConfig("postgresql://ada:hunter2@db/shop"),
    ...     queue_mode=QueueMode.CUSTOM,
    ...     custom_queues=[CustomQueueConfig("emails"), CustomQueueConfig("reports", priority=2)],
    ... )
    >>> [queue.name for queue in config.queues()]
    ['emails', 'reports']
    """

    broker: PostgresConfig | None = field(
        default=None,
        metadata={
            "rule": or_none(_BROKER),
            "means": "the database; without it the environment is asked",
        },
    )
    queue_mode: QueueMode | str = field(
        default=QueueMode.DEFAULT,
        metadata={
            "rule": _MODE,
            "means": "DEFAULT: one queue named default; CUSTOM: the queues listed in custom_queues",
        },
    )
    custom_queues: Sequence[CustomQueueConfig] = field(
        default=(), metadata={"rule": _QUEUES, "means": "the queues of CUSTOM mode"}
    )
    cluster_wide_cap: int | None = field(
        default=None,
        metadata={
            "rule": or_none(whole(1)),
            "means": "most tasks in flight (CLAIMED or RUNNING) across all workers",
        },
    )
    prefetch_buffer: int = field(
        default=0,
        metadata={
            "rule": whole(0),
            "means": "tasks a worker may hold ready beyond its free slots; capped queues never",
        },
    )
    claim_lease_ms: int = field(
        default=60_000,
        metadata={
            "rule": whole(1_000, 3_600_000),
            "means": "how long a silent worker keeps its tasks; it renews every quarter of it",
        },
    )
    recovery: RecoveryConfig = field(
        default_factory=RecoveryConfig,
        metadata={
            "rule": instance_of(RecoveryConfig),
            "means": "what happens to tasks of the dead, and how long history is kept",
        },
    )
    resilience: WorkerResilienceConfig = field(
        default_factory=WorkerResilienceConfig,
        metadata={
            "rule": instance_of(WorkerResilienceConfig),
            "means": "how a worker bears a lost database",
        },
    )
    exception_mapper: Mapping[type[BaseException], str] = field(
        default_factory=dict[type[BaseException], str],
        metadata={"rule": _MAPPER, "means": "from exception classes to error codes, for all tasks"},
    )
    default_unhandled_error_code: str = field(
        default=OperationalErrorCode.UNHANDLED_EXCEPTION,
        metadata={"rule": _ERROR_CODE, "means": "the code of exceptions that no mapper knows"},
    )
    payload_limit_bytes: int = field(
        default=2**20,
        metadata={
            "rule": whole(1, _LARGEST_PAYLOAD),
            "means": "most bytes of the arguments, and of the result, of one task",
        },
    )
    default_timeout_ms: int | None = field(
        default=None,
        metadata={
            "rule": or_none(whole(1)),
            "means": "how long a task may run if it says nothing itself; None: without end",
        },
    )
    idempotency_window_hours: int = field(
        default=24,
        metadata={"rule": whole(1, 87_600), "means": "how long an idempotency key is remembered"},
    )

    @classmethod
    def for_database_url(cls, url: str, **overrides: Any) -> Self:
        """The defaults with this database; `overrides` are fields of the config."""
        return cls(broker=PostgresConfig(url), **overrides)

    def queues(self) -> tuple[Queue, ...]:
        return tuple(self._queues.values())

    def queue_named(self, name: str) -> Queue | None:
        return self._queues.get(name)

    @cached_property
    def _queues(self) -> dict[str, Queue]:
        if self.queue_mode == QueueMode.DEFAULT:
            return {DEFAULT_QUEUE: Queue(name=DEFAULT_QUEUE)}
        return {config.name: config.queue for config in self.custom_queues}

    @property
    def rules(self) -> Rules:
        return Rules(
            max_worker_crashes=self.recovery.max_worker_crashes,
            unresolved_grace=self.recovery.unresolved_grace,
        )

    @property
    def claim_lease(self) -> timedelta:
        return timedelta(milliseconds=self.claim_lease_ms)

    @cached_property
    def max_pending(self) -> Mapping[str, int]:
        """Of the queues that are bounded."""
        limits = ((queue.name, queue.max_pending) for queue in self.queues())
        return {name: limit for name, limit in limits if limit is not None}

    @cached_property
    def idempotency_window(self) -> timedelta:
        return timedelta(hours=self.idempotency_window_hours)

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        if readable("cluster_wide_cap", "prefetch_buffer"):
            yield from self._cap_with_prefetch()
        if readable("queue_mode", "custom_queues"):
            yield from self._queues_against_mode()

    def _cap_with_prefetch(self) -> Iterator[Fault]:
        if self.cluster_wide_cap is not None and self.prefetch_buffer > 0:
            yield Fault(
                Hrs.CAP_WITH_PREFETCH,
                "AppConfig.cluster_wide_cap and prefetch_buffer exclude each other",
                "leave out cluster_wide_cap, or set prefetch_buffer to 0",
                note="what waits in one worker would hold room that another could use",
            )

    def _queues_against_mode(self) -> Iterator[Fault]:
        if self.queue_mode == QueueMode.DEFAULT and self.custom_queues:
            yield Fault(
                Hrs.BAD_QUEUES,
                "AppConfig.custom_queues is given, but queue_mode is DEFAULT",
                "set queue_mode=QueueMode.CUSTOM, or leave out custom_queues",
            )
        if self.queue_mode == QueueMode.CUSTOM and not self.custom_queues:
            yield Fault(
                Hrs.BAD_QUEUES,
                "AppConfig.queue_mode is CUSTOM, but custom_queues is empty",
                "list at least one CustomQueueConfig",
            )
