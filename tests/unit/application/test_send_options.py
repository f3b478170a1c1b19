"""Options of a send: what cannot be carried out is told, all of it."""

from datetime import UTC, datetime, timedelta

import pytest

from horsies.application.send_options import SendOptions
from horsies.application.settings.app import AppConfig

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = AppConfig()


def problems(count: int = 1, **options) -> tuple[str, ...]:
    return SendOptions(**options).problems(CONFIG, count)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"queue": "default"},
        {"priority": 1},
        {"priority": 100},
        {"delay": 0},
        {"delay": 0.5},
        {"delay": timedelta(days=3650)},
        {"eta": NOON},
        {"eta": NOON, "good_until": NOON + timedelta(microseconds=1)},
        {"good_until": NOON},
        {"timeout_ms": 1},
        {"result_ttl_ms": 1},
        {"idempotency_key": "k"},
        {"idempotency_key": "ключ" * 63},
        {"connection": object()},
    ],
)
def test_what_can_be_carried_out_has_no_problem(options):
    assert problems(**options) == ()


@pytest.mark.parametrize(
    "options",
    [
        {"queue": "nowhere"},
        {"queue": ""},
        {"queue": ["default"]},
        {"priority": 0},
        {"priority": 101},
        {"priority": True},
        {"priority": 1.5},
        {"priority": "1"},
        {"delay": -0.001},
        {"delay": timedelta(microseconds=-1)},
        {"delay": timedelta(days=3651)},
        {"delay": float("nan")},
        {"delay": float("inf")},
        {"delay": True},
        {"delay": "1"},
        {"eta": NOON.replace(tzinfo=None)},
        {"eta": "noon"},
        {"good_until": NOON.replace(tzinfo=None)},
        {"timeout_ms": 0},
        {"timeout_ms": True},
        {"result_ttl_ms": -1},
        {"result_ttl_ms": 0.5},
        {"idempotency_key": ""},
        {"idempotency_key": "a\0b"},
        {"idempotency_key": "\ud800"},
        {"idempotency_key": "k" * 256},
        {"idempotency_key": 5},
        {"delay": 1, "eta": NOON},
        {"eta": NOON, "good_until": NOON},
    ],
    ids=str,
)
def test_what_cannot_be_carried_out_has_exactly_one_problem(options):
    assert len(problems(**options)) == 1


def test_a_key_that_is_storable_may_hold_a_question_mark():
    assert problems(idempotency_key="really?") == ()


def test_one_key_names_one_task():
    assert problems(2, idempotency_key="k") == (
        "one idempotency_key cannot name several tasks: send them one by one",
    )


@pytest.mark.parametrize("delay", [1.5, timedelta(seconds=1.5)])
def test_seconds_and_timedeltas_mean_the_same(delay):
    assert SendOptions(delay=delay).delay_time == timedelta(seconds=1.5)


def test_no_delay_is_none():
    assert SendOptions().delay_time is None
