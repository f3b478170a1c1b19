"""The machine's clock, ids and dice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from horsies.adapters.system.clock import SystemClock
from horsies.adapters.system.dice import SystemDice
from horsies.adapters.system.id_source import Uuid7Source
from horsies.domain.ids import minted_at


def test_the_clock_tells_the_present_in_utc():
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


def test_task_ids_are_ordered_as_they_were_made():
    ids = Uuid7Source()
    made = [ids.task_id() for _ in range(5_000)]
    assert made == sorted(set(made))


def test_task_ids_are_uuids_of_version_7_that_carry_their_time():
    task_id = Uuid7Source().task_id()
    minted = minted_at(task_id)
    assert task_id.version == 7
    assert minted is not None
    assert abs(minted - datetime.now(UTC)) < timedelta(seconds=5)


def test_task_ids_of_many_threads_are_distinct():
    ids = Uuid7Source()
    with ThreadPoolExecutor(8) as threads:
        batches = threads.map(lambda _: [ids.task_id() for _ in range(500)], range(8))
        made = [task_id for batch in batches for task_id in batch]
    assert len(set(made)) == 4_000


def test_worker_ids_are_fresh_and_say_nothing():
    ids = Uuid7Source()
    made = {ids.worker_id() for _ in range(100)}
    assert len(made) == 100
    assert {worker.version for worker in made} == {4}


def test_dice_are_drawn_from_zero_to_below_one():
    dice = SystemDice()
    draws = [dice.roll() for _ in range(10_000)]
    assert all(0 <= draw < 1 for draw in draws)
    assert len(set(draws)) > 9_000
