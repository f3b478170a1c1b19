"""What is due is promoted once, and a worker that cannot have it does not spin."""

from datetime import timedelta

import pytest

from horsies.application.worker.due_time import DueTime
from horsies.domain.errors import BrokerError
from horsies.entrypoints.testing.outage import BreakableUnitOfWork, Outage
from tests.unit.application.usecases.bench import bench as new_bench


@pytest.fixture
def bench():
    return new_bench()


@pytest.fixture
def due(bench) -> DueTime:
    return DueTime(bench.unit_of_work, bench.clock, ["default"])


async def test_nothing_is_due_where_nothing_waits(due):
    await due.look()
    assert not due.is_over()
    assert due.seconds_left == float("inf")


async def test_a_delayed_task_is_due_when_its_time_is_over(bench, due):
    bench.send(delay=timedelta(seconds=10))
    await due.look()
    assert due.seconds_left == 10
    bench.pass_time(seconds=10)
    assert due.is_over()


async def test_what_is_forgotten_is_not_due_before_it_was_looked_up_again(bench, due):
    bench.send(delay=timedelta(seconds=10))
    await due.look()
    bench.pass_time(seconds=10)
    due.forget()
    assert not due.is_over()
    await due.look()
    assert due.is_over()


async def test_what_somebody_holds_is_tried_again_after_a_rest(bench, due):
    bench.send(delay=timedelta(seconds=10))
    await due.look()
    bench.pass_time(seconds=10)
    due.snooze()
    assert not due.is_over()
    bench.pass_time(seconds=1)
    assert due.is_over()


async def test_a_look_that_failed_has_told_nothing(bench):
    outage = Outage()
    due = DueTime(BreakableUnitOfWork(bench.unit_of_work, outage), bench.clock, ["default"])
    bench.send(delay=timedelta(seconds=10))
    outage.on = True
    for _ in range(2):
        with pytest.raises(BrokerError):
            await due.look()
    outage.on = False
    await due.look()
    assert due.seconds_left == 10
