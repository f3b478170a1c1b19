"""Claims: order, time, limits, and the epoch that each of them mints."""

from dataclasses import replace
from datetime import timedelta

import pytest

from horsies.domain.outcome import RetryAt
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.task import Terms
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import START


async def test_a_claim_that_starts_goes_straight_to_running(world):
    world.send()
    task = await world.claim_one()
    assert (task.status, task.epoch, task.attempt) == (TaskStatus.RUNNING, 1, 1)
    assert (task.claimed_at, task.started_at) == (world.now(), world.now())
    assert task.worker == world.worker


async def test_a_prefetched_task_is_claimed_and_has_cost_no_attempt(world):
    world.send()
    task = await world.claim_one(start=False)
    assert (task.status, task.epoch, task.attempt) == (TaskStatus.CLAIMED, 1, 0)
    assert task.started_at is None


async def test_what_a_claim_gives_is_what_is_stored(world):
    task_id = world.send()
    assert await world.claim_one() == await world.find(task_id)


async def test_a_task_is_claimed_once(world):
    world.send()
    await world.claim_one()
    assert await world.claim() == []


async def test_lower_priority_numbers_go_first_and_equals_first_come_first_served(world):
    late = world.send(priority=90)
    first = world.send(priority=10)
    world.pass_time(seconds=1)
    second = world.send(priority=10)
    assert [task.id for task in await world.claim()] == [first, second, late]


async def test_queues_are_served_by_tier_before_task_priority(world):
    low = world.send(queue="low", priority=1)
    high = world.send(queue="high", priority=100)
    order = ClaimOrder(world.worker, 10, ((Share("high", 10),), (Share("low", 10),)), start=True)
    claimed = await world.claim_by(order)
    assert [task.id for task in claimed] == [high, low]


async def test_queues_of_one_tier_are_pooled_by_priority_and_age(world):
    old = world.send(queue="a")
    world.pass_time(seconds=1)
    new = world.send(queue="a")
    urgent = world.send(queue="b", priority=1)
    claimed = await world.claim(queues=("a", "b"))
    assert [task.id for task in claimed] == [urgent, old, new]


async def test_only_the_named_queues_are_claimed_from(world):
    world.send(queue="other")
    assert await world.claim() == []


async def test_a_share_bounds_what_is_taken_from_its_queue(world):
    for _ in range(3):
        world.send(queue="a")
    b = world.send(queue="b")
    order = ClaimOrder(world.worker, 10, ((Share("a", 2), Share("b", 5)),), start=True)
    async with world.unit_of_work() as tx:
        claimed = await tx.tasks.claim(order)
    assert [task.queue for task in claimed].count("a") == 2
    assert b in {task.id for task in claimed}


async def test_the_limit_bounds_the_whole_order(world):
    for _ in range(5):
        world.send()
    assert len(await world.claim(3)) == 3
    assert len(await world.claim(3)) == 2


async def test_excluded_names_stay_in_the_queue_for_others(world):
    stranger = world.send("stranger")
    known = world.send("known")
    assert [t.id for t in await world.claim(excluded=frozenset({"stranger"}))] == [known]
    assert [t.id for t in await world.claim()] == [stranger]


async def test_a_delayed_task_is_invisible_until_it_is_due_and_promoted(world):
    task_id = world.send(delay=timedelta(seconds=10))
    assert await world.claim() == []
    world.pass_time(seconds=9.9)
    assert await world.promote() == 0
    world.pass_time(seconds=0.1)
    assert await world.promote() == 1
    assert [task.id for task in await world.claim()] == [task_id]


async def test_an_eta_in_the_past_is_due_at_once(world):
    task_id = world.send(eta=world.now() - timedelta(days=1))
    assert (await world.claim_one()).id == task_id


async def test_a_promoted_task_takes_the_place_of_its_due_time(world):
    delayed = world.send(delay=timedelta(seconds=5))
    world.pass_time(seconds=10)
    later = world.send()
    await world.promote()
    assert [task.id for task in await world.claim()] == [delayed, later]


async def test_promotion_is_bounded_and_takes_the_earliest_first(world):
    second = world.send(delay=timedelta(seconds=2))
    first = world.send(delay=timedelta(seconds=1))
    world.pass_time(seconds=5)
    assert await world.promote(limit=1) == 1
    assert [task.id for task in await world.claim()] == [first]
    assert await world.promote() == 1
    assert [task.id for task in await world.claim()] == [second]


async def test_the_next_due_time_is_known(world):
    async with world.unit_of_work() as tx:
        assert await tx.tasks.next_due(["default"]) is None
    world.send(delay=timedelta(seconds=30))
    world.send(delay=timedelta(seconds=20))
    world.send(queue="other", delay=timedelta(seconds=1))
    async with world.unit_of_work() as tx:
        assert await tx.tasks.next_due(["default"]) == world.now() + timedelta(seconds=20)


async def test_a_task_past_its_good_until_is_never_claimed(world):
    world.send(good_until=world.now() + timedelta(seconds=5))
    fresh = world.send(good_until=world.now() + timedelta(seconds=50))
    world.pass_time(seconds=5)
    assert [task.id for task in await world.claim()] == [fresh]


async def test_in_flight_counts_claimed_and_running_across_workers(world):
    for _ in range(3):
        world.send()
    world.send(queue="other")
    await world.claim(1, start=True)
    await world.claim(1, start=False, worker=world.new_worker())
    await world.claim(1, queues=("other",))
    async with world.unit_of_work() as tx:
        count = await tx.tasks.in_flight(["default", "other", "empty"])
    assert (count.total, dict(count.by_queue)) == (3, {"default": 2, "other": 1, "empty": 0})


async def test_a_released_task_returns_to_its_place_without_cost(world):
    first, second = world.send(), world.send()
    claimed = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        assert await tx.tasks.release([claimed.claim]) == 1
    again = await world.claim()
    assert [task.id for task in again] == [first, second]
    assert (again[0].epoch, again[0].attempt) == (2, 1)


async def test_a_release_with_an_old_epoch_does_nothing(world):
    world.send()
    old = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        await tx.tasks.release([old.claim])
    current = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        assert await tx.tasks.release([old.claim]) == 0
    assert await world.find(current.id) == current


async def test_a_running_task_cannot_be_released(world):
    world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        assert await tx.tasks.release([running.claim]) == 0


async def test_a_prefetched_task_starts_when_its_turn_comes(world):
    world.send()
    claimed = await world.claim_one(start=False)
    world.pass_time(seconds=1)
    async with world.unit_of_work() as tx:
        (started,) = await tx.tasks.start([claimed.claim])
    assert (started.status, started.epoch, started.attempt) == (TaskStatus.RUNNING, 1, 1)
    assert started.started_at == world.now()


async def test_a_claimed_task_past_its_good_until_expires_instead_of_starting(world):
    world.send(good_until=world.now() + timedelta(seconds=5))
    claimed = await world.claim_one(start=False)
    world.pass_time(seconds=5)
    async with world.unit_of_work() as tx:
        assert await tx.tasks.start([claimed.claim]) == []
    task = await world.find(claimed.id)
    assert (task.status, task.attempt) == (TaskStatus.EXPIRED, 0)


async def test_a_lost_claim_cannot_start(world):
    world.send()
    claimed = await world.claim_one(start=False)
    async with world.unit_of_work() as tx:
        await tx.tasks.release([claimed.claim])
    await world.claim_one(start=False, worker=world.new_worker())
    async with world.unit_of_work() as tx:
        assert await tx.tasks.start([claimed.claim]) == []


async def test_a_started_claim_cannot_start_twice(world):
    world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        assert await tx.tasks.start([running.claim]) == []


async def test_tasks_that_are_passed_over_are_left_to_others(world):
    first, second = world.send(), world.send()
    order = replace(world.order(10), passed_over=frozenset({first}))
    assert [task.id for task in await world.claim_by(order)] == [second]
    assert [task.id for task in await world.claim()] == [first]


async def _in_line(world, places, *, in_line=10, **options):
    order = world.order(places, in_line=in_line, light=frozenset({"light"}), **options)
    return [task.name for task in await world.claim_by(order)]


async def test_light_tasks_are_taken_although_no_place_is_free(world):
    world.send("light")
    world.send("light")
    assert await _in_line(world, 0) == ["light", "light"]


async def test_no_more_stand_in_line_than_there_is_room_for(world):
    for _ in range(5):
        world.send("light")
    assert await _in_line(world, 0, in_line=3) == ["light"] * 3


async def test_nothing_overtakes_a_task_that_needs_a_place(world):
    world.send("light")
    world.send("heavy")
    world.send("light")
    assert await _in_line(world, 0) == ["light"]
    assert await _in_line(world, 0) == []
    assert await _in_line(world, 1) == ["heavy"]
    assert await _in_line(world, 0) == ["light"]


async def test_a_task_that_needs_a_place_keeps_the_line_empty(world):
    world.send("heavy")
    world.send("light")
    world.send("light")
    assert await _in_line(world, 2) == ["heavy", "light"]
    assert await _in_line(world, 0) == ["light"]


async def test_nothing_overtakes_across_queues(world):
    world.send("heavy", queue="a", priority=2)
    world.send("light", queue="b", priority=1)
    world.send("light", queue="b", priority=3)
    assert await _in_line(world, 0, queues=("a", "b")) == ["light"]


@pytest.mark.parametrize(
    "unlike",
    [
        {"terms": Terms(timeout=timedelta(seconds=1))},
        {"good_until": START + timedelta(hours=1)},
    ],
)
async def test_what_depends_on_its_beginning_never_stands_in_line(world, unlike):
    world.send("light", **unlike)
    assert await _in_line(world, 0) == []
    assert await _in_line(world, 1) == ["light"]


async def test_what_has_killed_a_process_never_stands_in_line(world):
    world.send("light")
    task = await world.claim_one()
    await world.settle(task, RetryAt(world.now(), "WORKER_CRASHED"), crashed=True)
    assert await _in_line(world, 0) == []
