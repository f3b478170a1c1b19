"""Laws of what is reported: everything at once, at the user's line, without secrets."""

import pickle
import runpy

import pytest

from horsies.application.settings import AppConfig, PostgresConfig, RecoveryConfig, WorkerConfig
from horsies.application.settings.checks import shown
from horsies.domain.errors import ConfigurationError


def faults_of(build, *args, **settings):
    with pytest.raises(ConfigurationError) as caught:
        build(*args, **settings)
    return caught.value.faults


def test_every_fault_of_a_config_is_reported_at_once():
    faults = faults_of(
        PostgresConfig,
        "mysql://db",
        listen_url=3,
        schema="Public",
        pool_min_size=20,
        pool_max_size=0,
        notify="yes",
    )

    assert [fault.code for fault in faults] == [
        "HRS-200",
        "HRS-201",
        "HRS-201",
        "HRS-202",
        "HRS-207",
        "HRS-209",
    ]


def test_a_configuration_error_is_a_value_error():
    with pytest.raises(ValueError, match="HRS-200"):
        RecoveryConfig(check_interval_ms=0)


def test_fields_of_a_wrong_type_are_not_compared():
    faults = faults_of(
        RecoveryConfig, claimed_stale_threshold_ms="1s", running_stale_threshold_ms=1_000
    )

    assert [fault.code for fault in faults] == ["HRS-201", "HRS-204"]


@pytest.mark.parametrize("field", ["pool_min_size", "pool_max_size"])
def test_a_size_of_a_wrong_type_is_reported_alone(field):
    faults = faults_of(PostgresConfig, "postgresql://db", **{field: "ten"})

    assert [fault.code for fault in faults] == ["HRS-201"]


def test_the_report_reads_like_that_of_a_compiler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.py").write_text(
        "from horsies.application.settings import PostgresConfig\n"
        "\n"
        'broker = PostgresConfig("postgresql://ada:hunter2@db", schema="Shop", pool_max_size=0)\n'
    )
    with pytest.raises(ConfigurationError) as caught:
        runpy.run_path(str(tmp_path / "settings.py"))

    assert caught.value.report() == (
        """\
error[HRS-200]: PostgresConfig.pool_max_size cannot be 0
 --> settings.py:3
  |
3 | broker = PostgresConfig("...", schema="...", pool_max_size=0)
  |
  = help: pass a whole number from 1 to 1_000

error[HRS-207]: PostgresConfig.schema cannot be 'Shop'
 --> settings.py:3
  |
3 | broker = PostgresConfig("...", schema="...", pool_max_size=0)
  |
  = help: use at most 48 lower-case letters, digits and underscores, no digit first

error[HRS-209]: PostgresConfig.pool_max_size (0) is below pool_min_size (1)
 --> settings.py:3
  |
3 | broker = PostgresConfig("...", schema="...", pool_max_size=0)
  |
  = help: raise pool_max_size to at least 1, or lower pool_min_size

3 faults found"""
    )


@pytest.mark.parametrize(
    "line",
    [
        'PostgresConfig("postgresql://u:canary@h", pool_max_size=0)',
        "PostgresConfig('canary', pool_max_size=0)",
        'PostgresConfig("""host=h password=canary""", pool_max_size=0)',
        'PostgresConfig("""canary\nhost=h""", pool_max_size=0)',
        "PostgresConfig(f'postgresql://u:{\"canary\"}@h', pool_max_size=0)",
        r'PostgresConfig("postgresql://u:\"canary@h", pool_max_size=0)',
        'PostgresConfig(b"canary")',
        'AppConfig(broker="postgresql://u:canary@h")',
        'AppConfig(broker={"password": "canary"})',
        'AppConfig(broker=PostgresConfig("postgresql://u:canary@h"), claim_lease_ms=0)',
        'AppConfig.for_database_url("canary")',
        'AppConfig(default_timeout_ms="postgresql://u:canary@h")',
        'WorkerConfig(dsn="canary")',
        'WorkerConfig(loglevel="host=h password=canary")',
        'WorkerConfig(queue_priorities={"postgresql://u:canary@h": 0})',
    ],
)
def test_the_quoted_line_shows_no_string_that_could_be_a_secret(line, tmp_path):
    names = "AppConfig, PostgresConfig, WorkerConfig"
    file = tmp_path / "settings.py"
    file.write_text(f"from horsies.application.settings import {names}\n{line}\n")
    with pytest.raises(ConfigurationError) as caught:
        runpy.run_path(str(file))

    assert "Config" in caught.value.faults[0].location.source
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(caught.value)


def test_an_error_survives_pickling():
    with pytest.raises(ConfigurationError) as caught:
        AppConfig(claim_lease_ms=0)

    copied = pickle.loads(pickle.dumps(caught.value))

    assert copied.faults == caught.value.faults
    assert str(copied) == str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (30_000, "30_000"),
        (True, "True"),
        (None, "None"),
        (0.5, "0.5"),
        ("emails", "'emails'"),
        ("x" * 200, "'" + "x" * 79 + "..."),
        ("password-resets", "'password-resets'"),
        ("a://b", "what looks like a DSN"),
        ("host=h password=x", "what looks like a DSN"),
        (ValueError, "the class ValueError"),
        ([1], "a list"),
        ("ada:hunter2@db", "what looks like a DSN"),
    ],
)
def test_values_are_shown_briefly_and_never_by_the_repr_of_unknown_objects(value, text):
    assert shown(value) == text


def test_a_worker_may_not_speak_of_queues_that_it_does_not_serve():
    faults = faults_of(
        WorkerConfig,
        queues=["emails"],
        queue_priorities={"emails": 1, "reports": 2},
        queue_max_concurrency={"video": 3},
    )

    assert [(fault.code, fault.help) for fault in faults] == [
        ("HRS-210", "choose from 'emails'"),
        ("HRS-210", "choose from 'emails'"),
    ]
