"""Laws of single fields: the defaults and ranges of the reference, bound for bound."""

import logging
import os
import socket
from dataclasses import MISSING, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.application.settings import (
    AppConfig,
    CustomQueueConfig,
    PostgresConfig,
    QueueMode,
    RecoveryConfig,
    WorkerConfig,
    WorkerResilienceConfig,
)
from horsies.application.settings.checks import LARGEST
from horsies.domain.errors import ConfigurationError

CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
NEEDED = {PostgresConfig: ("postgresql://db/shop",), CustomQueueConfig: ("emails",)}

NUMBERS = [
    (AppConfig, "cluster_wide_cap", None, 1, LARGEST),
    (AppConfig, "prefetch_buffer", 0, 0, LARGEST),
    (AppConfig, "claim_lease_ms", 60_000, 1_000, 3_600_000),
    (AppConfig, "payload_limit_bytes", 1_048_576, 1, 268_435_456),
    (AppConfig, "default_timeout_ms", None, 1, LARGEST),
    (AppConfig, "idempotency_window_hours", 24, 1, 87_600),
    (PostgresConfig, "pool_min_size", 1, 0, 1_000),
    (PostgresConfig, "pool_max_size", 10, 1, 1_000),
    (PostgresConfig, "statement_timeout_ms", 60_000, 1, LARGEST),
    (CustomQueueConfig, "priority", 1, 1, 100),
    (CustomQueueConfig, "max_concurrency", None, 0, LARGEST),
    (CustomQueueConfig, "max_pending", None, 1, LARGEST),
    (RecoveryConfig, "claimed_stale_threshold_ms", 120_000, 1_000, 3_600_000),
    (RecoveryConfig, "claimer_heartbeat_interval_ms", 30_000, 1_000, 120_000),
    (RecoveryConfig, "running_stale_threshold_ms", 300_000, 1_000, 7_200_000),
    (RecoveryConfig, "runner_heartbeat_interval_ms", 30_000, 1_000, 120_000),
    (RecoveryConfig, "check_interval_ms", 30_000, 1_000, 600_000),
    (RecoveryConfig, "heartbeat_retention_hours", 24, 1, 87_600),
    (RecoveryConfig, "worker_state_retention_hours", 168, 1, 87_600),
    (RecoveryConfig, "terminal_record_retention_hours", 720, 1, 87_600),
    (RecoveryConfig, "max_worker_crashes", 3, 1, LARGEST),
    (RecoveryConfig, "unresolved_grace_ms", 300_000, 0, LARGEST),
    (WorkerResilienceConfig, "db_retry_initial_ms", 500, 100, 60_000),
    (WorkerResilienceConfig, "db_retry_max_ms", 30_000, 500, 300_000),
    (WorkerResilienceConfig, "db_retry_max_attempts", 0, 0, 10_000),
    (WorkerResilienceConfig, "notify_poll_interval_ms", 5_000, 1_000, 300_000),
    (WorkerConfig, "processes", CPUS, 0, 1_000),
    (WorkerConfig, "concurrency", 16, 1, 100_000),
    (WorkerConfig, "max_claim_batch", 0, 0, LARGEST),
    (WorkerConfig, "max_claim_per_worker", 0, 0, LARGEST),
    (WorkerConfig, "coalesce_notifies", 100, 1, LARGEST),
    (WorkerConfig, "max_tasks_per_child", 0, 0, LARGEST),
    (WorkerConfig, "max_memory_per_child_mb", None, 1, LARGEST),
    (WorkerConfig, "run_ahead_ms", 5, 0, 10_000),
    (WorkerConfig, "shutdown_grace_ms", None, 0, LARGEST),
    (WorkerConfig, "kill_grace_ms", 5_000, 0, LARGEST),
]

OTHERS = [
    (AppConfig, "broker", None),
    (AppConfig, "queue_mode", QueueMode.DEFAULT),
    (AppConfig, "custom_queues", ()),
    (AppConfig, "recovery", RecoveryConfig()),
    (AppConfig, "resilience", WorkerResilienceConfig()),
    (AppConfig, "exception_mapper", {}),
    (AppConfig, "default_unhandled_error_code", "UNHANDLED_EXCEPTION"),
    (PostgresConfig, "listen_url", None),
    (PostgresConfig, "schema", "public"),
    (PostgresConfig, "keepalives", True),
    (PostgresConfig, "prepare_statements", True),
    (PostgresConfig, "notify", True),
    (RecoveryConfig, "auto_requeue_stale_claimed", True),
    (RecoveryConfig, "auto_fail_stale_running", True),
    (WorkerConfig, "dsn", None),
    (WorkerConfig, "app_locator", None),
    (WorkerConfig, "imports", ()),
    (WorkerConfig, "queues", ()),
    (WorkerConfig, "start_method", "forkserver"),
    (WorkerConfig, "queue_priorities", {}),
    (WorkerConfig, "queue_max_concurrency", {}),
    (WorkerConfig, "loglevel", logging.INFO),
    (WorkerConfig, "name", socket.gethostname()),
]

FLAGS = [(config, name) for config, name, default in OTHERS if isinstance(default, bool)]
KINDS = [
    *((config, name, "10") for config, name, *_ in NUMBERS),
    *((config, name, True) for config, name, *_ in NUMBERS),
    *((config, name, 1.5) for config, name, *_ in NUMBERS),
    *((config, name, 1) for config, name in FLAGS),
    (AppConfig, "broker", "postgresql://db/shop"),
    (AppConfig, "queue_mode", 1),
    (AppConfig, "custom_queues", "emails"),
    (AppConfig, "custom_queues", ["emails"]),
    (AppConfig, "recovery", RecoveryConfig),
    (AppConfig, "resilience", None),
    (PostgresConfig, "database_url", None),
    (PostgresConfig, "listen_url", b"postgresql://db"),
    (PostgresConfig, "schema", None),
    (CustomQueueConfig, "name", 3),
    (WorkerConfig, "dsn", 5432),
    (WorkerConfig, "app_locator", len),
    (WorkerConfig, "imports", "myapp.tasks"),
    (WorkerConfig, "imports", [1]),
    (WorkerConfig, "queues", 7),
    (WorkerConfig, "start_method", None),
    (WorkerConfig, "queue_priorities", [("emails", 1)]),
    (WorkerConfig, "queue_priorities", {("emails",): 1}),
    (WorkerConfig, "queue_max_concurrency", {"emails": "1"}),
    (WorkerConfig, "loglevel", True),
    (WorkerConfig, "name", None),
]


def build(config, **settings):
    given_by_name = {"database_url", "name"} & settings.keys() and config in NEEDED
    return config(*(() if given_by_name else NEEDED.get(config, ())), **settings)


def codes_of(config, name, value):
    """The codes of the faults that name this field; others may follow from its value."""
    try:
        build(config, **{name: value})
    except ConfigurationError as error:
        return {fault.code for fault in error.faults if f".{name} cannot" in fault.message}
    return set()


def test_the_tables_cover_every_field_that_has_a_default():
    listed = {(config, name) for config, name, *_ in [*NUMBERS, *OTHERS]}
    configs = {config for config, _ in listed}

    assert listed == {
        (config, item.name)
        for config in configs
        for item in fields(config)
        if not (item.default is MISSING and item.default_factory is MISSING)
    }


@pytest.mark.parametrize(
    ("config", "name", "default"), [*((c, n, d) for c, n, d, _, _ in NUMBERS), *OTHERS]
)
def test_defaults_are_those_of_the_reference(config, name, default):
    assert getattr(build(config), name) == default


@pytest.mark.parametrize(("config", "name", "default", "low", "high"), NUMBERS)
def test_both_bounds_are_accepted_and_one_beyond_is_refused(config, name, default, low, high):
    assert codes_of(config, name, low) == set()
    assert codes_of(config, name, high) == set()
    assert codes_of(config, name, low - 1) == {"HRS-200"}
    assert codes_of(config, name, high + 1) == {"HRS-200"}


@pytest.mark.parametrize(
    ("config", "name"),
    [
        *((config, name) for config, name, default, *_ in NUMBERS if default is None),
        (PostgresConfig, "statement_timeout_ms"),
        (RecoveryConfig, "heartbeat_retention_hours"),
        (RecoveryConfig, "worker_state_retention_hours"),
        (RecoveryConfig, "terminal_record_retention_hours"),
    ],
)
def test_what_may_be_none_is_none_if_told_so(config, name):
    assert getattr(build(config, **{name: None}), name) is None


@pytest.mark.parametrize(("config", "name", "value"), KINDS)
def test_a_wrong_type_is_named_as_such(config, name, value):
    with pytest.raises(ConfigurationError) as caught:
        build(config, **{name: value})

    assert [fault.code for fault in caught.value.faults] == ["HRS-201"]
    assert f"{config.__name__}.{name}" in caught.value.faults[0].message


@given(st.integers())
def test_a_priority_is_accepted_if_and_only_if_it_is_from_1_to_100(priority):
    assert (codes_of(CustomQueueConfig, "priority", priority) == set()) == (1 <= priority <= 100)


def test_without_affinity_the_machine_is_counted(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)

    assert WorkerConfig().processes == 5
