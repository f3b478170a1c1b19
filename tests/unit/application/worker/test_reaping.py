"""When the reaper looks again: for the next lapse, and never in a circle."""

from datetime import timedelta

import pytest

from horsies.adapters.memory.virtual_time import EvenDice
from horsies.application.settings.app import AppConfig
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.worker.patience import Patience
from horsies.application.worker.reaping import AFTER_A_LAPSE, ReapLoop
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import LEASE
from tests.unit.application.usecases.bench import bench

USUAL = 30.0


def reaper(world):
    return ReapLoop(
        worker=world.worker,
        reap=world.reap,
        unit_of_work=world.unit_of_work,
        clock=world.clock,
        dice=EvenDice(),
        patience=Patience(world.config.resilience, EvenDice()),
    )


@pytest.fixture
def world():
    return bench()


async def holding(world):
    """Another worker that has just been heard of, and its task."""
    other = world.new_worker()
    world.send()
    task = await world.claim_one(worker=other)
    await world.beat(other)
    return task


async def test_with_nobody_to_watch_it_rests_as_configured(world):
    assert await reaper(world)._pass() == USUAL


async def test_it_wakes_for_the_next_lapse(world):
    loop = reaper(world)
    await loop._pass()
    world.pass_time(days=1)
    await holding(world)
    world.pass_time(seconds=LEASE.total_seconds() - 5)
    assert await loop._pass() == 5 + AFTER_A_LAPSE.total_seconds()


async def test_a_lapse_that_is_older_than_the_watch_is_judged_when_the_watch_is_old_enough(world):
    task = await holding(world)
    world.pass_time(days=1)
    loop = reaper(world)
    assert await loop._pass() == USUAL
    world.pass_time(seconds=LEASE.total_seconds() - 5)
    assert await loop._pass() == 5 + AFTER_A_LAPSE.total_seconds()
    world.pass_time(seconds=5)
    await loop._pass()
    assert (await world.find(task.id)).status is TaskStatus.FAILED


async def test_what_must_not_be_recovered_is_not_met_again_and_again():
    world = bench(AppConfig(recovery=RecoveryConfig(auto_fail_stale_running=False)))
    loop = reaper(world)
    await loop._pass()
    await holding(world)
    world.pass_time(days=1)
    assert await loop._pass() == USUAL


async def test_an_outage_begins_the_watch_anew(world):
    loop = reaper(world)
    await loop._pass()
    task = await holding(world)
    world.pass_time(days=1)
    loop._patience.outages += 1
    await loop._pass()
    assert (await world.find(task.id)).status is TaskStatus.RUNNING
    world.pass_time(seconds=timedelta(minutes=1).total_seconds())
    await loop._pass()
    assert (await world.find(task.id)).status is TaskStatus.FAILED
