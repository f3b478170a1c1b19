"""Laws of an application's configuration as a whole."""

from dataclasses import FrozenInstanceError
from datetime import timedelta

import pytest

from horsies.application.settings import (
    AppConfig,
    CustomQueueConfig,
    PostgresConfig,
    QueueMode,
    RecoveryConfig,
    WorkerConfig,
    WorkerResilienceConfig,
)
from horsies.application.settings.worker import served_queues
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.errors import ConfigurationError
from horsies.domain.outcome import Rules
from horsies.domain.queue import Queue

EMAILS = CustomQueueConfig("emails", priority=2, max_concurrency=10, max_pending=500)
REPORTS = CustomQueueConfig("reports")
CUSTOM = AppConfig(queue_mode="custom", custom_queues=[EMAILS, REPORTS])


def codes_of(build, *args, **settings):
    with pytest.raises(ConfigurationError) as caught:
        build(*args, **settings)
    return [fault.code for fault in caught.value.faults]


def test_a_url_is_all_that_an_app_needs():
    config = AppConfig.for_database_url("postgresql://db/shop", prefetch_buffer=3)

    assert config.broker.dsn == "postgresql://db/shop"
    assert config.prefetch_buffer == 3


def test_in_default_mode_there_is_one_queue():
    assert AppConfig().queues() == (Queue(name="default", priority=1),)


def test_in_custom_mode_the_queues_are_those_listed():
    assert CUSTOM.queues() == (
        Queue(name="emails", priority=2, max_concurrency=10, max_pending=500),
        Queue(name="reports"),
    )


def test_a_queue_is_found_by_name():
    assert CUSTOM.queue_named("reports") == Queue(name="reports")
    assert CUSTOM.queue_named("default") is None


@pytest.mark.parametrize("mode", [QueueMode.CUSTOM, "custom", "CUSTOM", "Custom"])
def test_the_mode_may_be_written_as_a_string_of_any_case(mode):
    assert AppConfig(queue_mode=mode, custom_queues=[REPORTS]).queue_mode is QueueMode.CUSTOM


def test_an_unknown_mode_is_refused():
    assert codes_of(AppConfig, queue_mode="several", custom_queues=[REPORTS]) == ["HRS-200"]


@pytest.mark.parametrize(
    "settings",
    [
        {"queue_mode": QueueMode.CUSTOM},
        {"custom_queues": [REPORTS]},
        {"queue_mode": QueueMode.CUSTOM, "custom_queues": [EMAILS, REPORTS, EMAILS]},
    ],
)
def test_queues_must_fit_the_mode_and_be_named_once(settings):
    assert codes_of(AppConfig, **settings) == ["HRS-206"]


@pytest.mark.parametrize("name", ["", " emails", "emails\n", "e\x00mails", "é" * 32, "\ud800"])
def test_a_bad_queue_name_is_refused(name):
    assert codes_of(CustomQueueConfig, name) == ["HRS-206"]


@pytest.mark.parametrize("name", ["a", "x" * 63, "é" * 31, "two words", "billing/eu.west-1"])
def test_a_queue_name_is_1_to_63_bytes(name):
    assert CustomQueueConfig(name).name == name


@pytest.mark.parametrize("schema", ["", "Public", "1st", "a-b", "a" * 49, "public\n", "a;b"])
def test_a_schema_is_a_plain_identifier(schema):
    assert codes_of(PostgresConfig, "postgresql://db", schema=schema) == ["HRS-207"]


def test_a_cluster_cap_and_prefetch_exclude_each_other():
    assert codes_of(AppConfig, cluster_wide_cap=10, prefetch_buffer=1) == ["HRS-205"]
    assert AppConfig(cluster_wide_cap=10).cluster_wide_cap == 10


@pytest.mark.parametrize(
    ("threshold", "interval"),
    [
        ("claimed_stale_threshold_ms", "claimer_heartbeat_interval_ms"),
        ("running_stale_threshold_ms", "runner_heartbeat_interval_ms"),
    ],
)
def test_a_threshold_is_at_least_twice_its_interval(threshold, interval):
    assert getattr(RecoveryConfig(**{threshold: 20_000, interval: 10_000}), threshold) == 20_000
    assert codes_of(RecoveryConfig, **{threshold: 19_999, interval: 10_000}) == ["HRS-204"]


def test_the_longest_retry_wait_is_not_below_the_first():
    assert WorkerResilienceConfig(db_retry_initial_ms=600, db_retry_max_ms=600)
    assert codes_of(WorkerResilienceConfig, db_retry_initial_ms=600, db_retry_max_ms=599) == [
        "HRS-209"
    ]


def test_durations_and_rules_come_in_the_domains_own_types():
    config = AppConfig(
        claim_lease_ms=2_000,
        idempotency_window_hours=2,
        recovery=RecoveryConfig(max_worker_crashes=5, unresolved_grace_ms=1_000),
    )

    assert config.claim_lease == timedelta(seconds=2)
    assert config.idempotency_window == timedelta(hours=2)
    assert config.rules == Rules(max_worker_crashes=5, unresolved_grace=timedelta(seconds=1))
    assert AppConfig().rules == Rules()
    assert config.recovery.claimed_stale_threshold == timedelta(minutes=2)
    assert config.recovery.running_stale_threshold == timedelta(minutes=5)


def test_a_config_does_not_change_with_what_it_was_built_from():
    mapper, queues = {ValueError: "BAD_VALUE"}, [REPORTS]
    config = AppConfig(queue_mode="custom", custom_queues=queues, exception_mapper=mapper)
    mapper[KeyError] = "LATE"
    queues.append(EMAILS)

    assert config.exception_mapper == {ValueError: "BAD_VALUE"}
    assert repr(config.exception_mapper) == "{<class 'ValueError'>: 'BAD_VALUE'}"
    assert config.custom_queues == (REPORTS,)
    with pytest.raises(FrozenInstanceError):
        config.claim_lease_ms = 1


def test_built_in_codes_are_stored_as_members():
    config = AppConfig(default_unhandled_error_code="TASK_EXCEPTION")

    assert config.default_unhandled_error_code is OperationalErrorCode.TASK_EXCEPTION


@pytest.mark.parametrize(
    "settings",
    [
        {"exception_mapper": [ValueError]},
        {"exception_mapper": {"ValueError": "BAD_VALUE"}},
        {"exception_mapper": {int: "BAD_VALUE"}},
        {"exception_mapper": {ValueError: ""}},
        {"exception_mapper": {ValueError: None}},
        {"exception_mapper": {ValueError: "WORKER_CRASHED"}},
        {"default_unhandled_error_code": "  "},
        {"default_unhandled_error_code": 3},
        {"default_unhandled_error_code": "TASK_CANCELLED"},
    ],
)
def test_mappers_map_exception_classes_to_codes_that_users_may_write(settings):
    assert codes_of(AppConfig, **settings) == ["HRS-208"]


def test_every_bad_entry_of_a_mapper_is_reported():
    mapper = {int: "A", ValueError: "", KeyError: "TASK_TIMEOUT", OSError: "TASK_EXCEPTION"}

    assert codes_of(AppConfig, exception_mapper=mapper) == ["HRS-208"] * 3


@pytest.mark.parametrize(
    ("given_level", "level"), [("debug", 10), ("WARNING", 30), (25, 25), (0, 0)]
)
def test_a_log_level_is_a_name_or_a_number(given_level, level):
    assert WorkerConfig(loglevel=given_level).loglevel == level


@pytest.mark.parametrize("level", ["loud", -1])
def test_an_unknown_log_level_is_refused(level):
    assert codes_of(WorkerConfig, loglevel=level) == ["HRS-200"]


def test_a_worker_name_obeys_the_rule_of_names():
    assert WorkerConfig(name="x" * 255).name == "x" * 255
    assert codes_of(WorkerConfig, name="x" * 256) == ["HRS-200"]


def test_a_workers_queues_are_named_well_and_once():
    assert codes_of(WorkerConfig, queues=["", "a", "a"]) == ["HRS-206", "HRS-206"]


@pytest.mark.parametrize("setting", ["max_tasks_per_child", "max_memory_per_child_mb"])
def test_limits_on_children_need_children(setting):
    assert codes_of(WorkerConfig, processes=0, **{setting: 1}) == ["HRS-210"]
    assert getattr(WorkerConfig(processes=1, **{setting: 1}), setting) == 1


def test_a_worker_serves_all_queues_unless_told():
    assert served_queues(CUSTOM, WorkerConfig()) == CUSTOM.queues()


def test_a_worker_may_reorder_its_queues_and_lower_their_caps():
    worker = WorkerConfig(
        queues=["emails"], queue_priorities={"emails": 9}, queue_max_concurrency={"emails": 4}
    )

    assert served_queues(CUSTOM, worker) == (
        Queue(name="emails", priority=9, max_concurrency=4, max_pending=500),
    )


def test_a_worker_may_cap_what_was_uncapped():
    worker = WorkerConfig(queue_max_concurrency={"default": 1})

    assert served_queues(AppConfig(), worker)[0].max_concurrency == 1


def test_a_worker_may_not_raise_a_cap_or_serve_queues_that_are_not_there():
    worker = WorkerConfig(
        queue_priorities={"vidoe": 1}, queue_max_concurrency={"emails": 11, "vidoe": 1}
    )

    assert codes_of(served_queues, CUSTOM, worker) == ["HRS-210"] * 3
