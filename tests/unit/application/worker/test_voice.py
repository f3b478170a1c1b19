"""For whom a beat speaks: once an interval for each task, never for the short and the silent."""

from datetime import timedelta

import pytest

from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.vigil import Vigil
from horsies.application.worker.voice import Voice
from tests.unit.application.usecases.bench import bench
from tests.unit.application.worker.fakes import Hands

BEAT = timedelta(seconds=15)  # the interval of heartbeats is twice that


@pytest.fixture
def world():
    return bench()


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def holdings():
    return Holdings()


@pytest.fixture
def vigil(hands):
    return Vigil(hands, RecoveryConfig())


@pytest.fixture
def beat(world, vigil, holdings):
    """One beat: whom it speaks for, and whom it only asks about."""
    voice = Voice(RecoveryConfig(), holdings, vigil)

    def beat():
        pulse = voice.pulse(world.record(world.worker), world.now(), BEAT)
        voice.said(pulse, world.now())
        return [*pulse.claimed, *pulse.running], list(pulse.quiet)

    return beat


async def test_a_task_is_spoken_for_once_an_interval_however_often_the_heart_beats(
    world, holdings, beat
):
    world.send()
    task = await world.claim_one()
    holdings.run([task])
    spoken = []
    for seconds in range(0, 121, 15):
        if beat()[0]:
            spoken.append(seconds)
        world.pass_time(seconds=15)
    assert spoken == [30, 60, 90, 120]


async def test_what_is_not_spoken_for_is_asked_about(world, holdings, beat):
    world.send()
    task = await world.claim_one()
    holdings.run([task])
    world.pass_time(seconds=2)
    assert beat() == ([], [task.claim])


async def test_what_was_taken_a_moment_ago_is_not_even_asked_about(world, holdings, beat):
    world.send()
    holdings.run([await world.claim_one()])
    assert beat() == ([], [])


async def test_a_beat_that_comes_a_little_early_does_not_put_it_off(world, holdings, beat):
    world.send()
    holdings.run([await world.claim_one()])
    world.pass_time(seconds=29.99)
    assert beat()[0]


async def test_what_waits_for_a_place_is_spoken_for_too(world, holdings, beat):
    world.send()
    task = await world.claim_one(start=False)
    holdings.wait([task])
    world.pass_time(seconds=30)
    assert beat() == ([task.claim], [])


async def test_nobody_speaks_for_a_process_that_is_silent(world, holdings, hands, vigil, beat):
    world.send()
    task = await world.claim_one()
    holdings.run([task])
    hands.signs[task.claim] = 1
    vigil.look(0)
    for seconds in range(5, 121, 5):
        world.pass_time(seconds=5)
        vigil.look(seconds)
        if seconds % 15 == 0:
            assert beat() == ([], [task.claim])
