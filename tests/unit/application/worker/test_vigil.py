"""A silent process is noticed by who watches it, and by nobody else."""

import pytest

from horsies.application.ports.executor import Interruption
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.worker.vigil import Vigil
from horsies.domain.task import Claim
from tests.unit.application.worker.fakes import Hands
from tests.unit.domain.strategies import TASK_ID

CLAIM = Claim(TASK_ID, 1)
RECOVERY = RecoveryConfig(running_stale_threshold_ms=40_000, runner_heartbeat_interval_ms=10_000)


@pytest.fixture
def hands():
    return Hands({CLAIM: 1})


@pytest.fixture
def vigil(hands):
    return Vigil(hands, RECOVERY)


def watch(vigil, seconds, since=0.0):
    """Looks as often as it is meant to."""
    looks = int(seconds / vigil.seconds) + 1
    for number in range(looks):
        vigil.look(since + number * vigil.seconds)


def test_silence_up_to_the_threshold_is_borne(vigil, hands):
    watch(vigil, 39)
    assert hands.interrupted == []


def test_at_the_threshold_the_process_is_ended(vigil, hands):
    watch(vigil, 40)
    assert hands.interrupted == [(CLAIM, Interruption.SILENT)]


def test_a_sign_of_life_begins_the_silence_anew(vigil, hands):
    watch(vigil, 35)
    hands.signs[CLAIM] = 2
    watch(vigil, 35, since=40)
    assert hands.interrupted == []


def test_time_in_which_nobody_looked_proves_nothing(vigil, hands):
    vigil.look(0)
    vigil.look(86_400)
    assert hands.interrupted == []


def test_who_was_heard_within_the_interval_is_spoken_for(vigil):
    watch(vigil, 9)
    assert vigil.has_heard(CLAIM)
    watch(vigil, 10)
    assert not vigil.has_heard(CLAIM)


def test_a_run_that_nobody_has_looked_at_counts_as_heard(vigil):
    assert vigil.has_heard(Claim(TASK_ID, 2))


def test_a_run_that_has_ended_is_forgotten(vigil, hands):
    watch(vigil, 35)
    hands.signs.clear()
    vigil.look(40)
    hands.signs[CLAIM] = 1
    watch(vigil, 35, since=45)
    assert hands.interrupted == []


@pytest.mark.parametrize(
    ("threshold_ms", "interval_ms", "seconds"),
    [(300_000, 30_000, 5.0), (2_000, 1_000, 0.25), (300_000, 1_000, 0.5)],
)
def test_it_looks_often_enough_for_threshold_and_interval(threshold_ms, interval_ms, seconds):
    recovery = RecoveryConfig(
        running_stale_threshold_ms=threshold_ms, runner_heartbeat_interval_ms=interval_ms
    )
    assert Vigil(Hands(), recovery).seconds == seconds
