"""Claims: bounded by slots, prefetch and caps, whoever else is claiming."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horsies.application.ports.task_store import TaskStore
from horsies.application.usecases.claim_tasks import ClaimTasks, Unfit, release_tasks, start_tasks
from horsies.domain.outcome import Complete
from horsies.domain.queue import Queue, Room
from horsies.domain.task import Task
from horsies.domain.task_lifecycle import TaskStatus
from horsies.entrypoints.bridge import drive
from tests.contract.conftest import LEASE
from tests.unit.application.usecases.bench import Bench
from tests.unit.application.usecases.bench import bench as new_bench

PLAIN = Queue(name="default")
CAPPED = Queue(name="capped", max_concurrency=2)


async def claim(
    bench: Bench, claims: ClaimTasks, slots: int = 10, worker: Any = None, **room: int
) -> list[Task]:
    async with bench.unit_of_work() as tx:
        taken = await claims(tx, worker or bench.worker, Room(free_slots=slots, **room))
    return list(taken)


def send(bench: Bench, count: int, queue: str = "default") -> None:
    for _ in range(count):
        bench.send(queue=queue)


async def test_as_many_start_as_there_are_free_slots(bench):
    send(bench, 5)
    taken = await claim(bench, ClaimTasks([PLAIN]), slots=3)
    assert [task.status for task in taken] == [TaskStatus.RUNNING] * 3


@pytest.mark.parametrize("slots", [0, -1])
async def test_a_worker_without_free_slots_takes_nothing(bench, slots):
    send(bench, 1)
    assert await claim(bench, ClaimTasks([PLAIN]), slots=slots) == []


async def test_a_cap_counts_the_tasks_of_every_worker(bench):
    send(bench, 5, "capped")
    claims = ClaimTasks([CAPPED])
    first = await claim(bench, claims, slots=1)
    second = await claim(bench, claims, worker=bench.new_worker())
    third = await claim(bench, claims, worker=bench.new_worker())
    assert [len(first), len(second), len(third)] == [1, 1, 0]


async def test_a_cap_counts_what_is_claimed_and_not_started(bench):
    send(bench, 3, "capped")
    await bench.claim(1, queues=("capped",), start=False)
    assert len(await claim(bench, ClaimTasks([CAPPED]))) == 1


async def test_a_settled_task_makes_room_under_the_cap(bench):
    send(bench, 3, "capped")
    claims = ClaimTasks([CAPPED])
    done, _ = await claim(bench, claims)
    await bench.settle(done, Complete())
    assert len(await claim(bench, claims)) == 1


async def test_a_lapsed_lease_makes_no_room_by_itself(bench):
    send(bench, 3, "capped")
    claims = ClaimTasks([CAPPED])
    await bench.beat()
    await claim(bench, claims)
    bench.clock.advance(LEASE * 2)
    assert await claim(bench, claims, worker=bench.new_worker()) == []


async def test_a_cap_of_zero_stops_a_queue(bench):
    send(bench, 1, "capped")
    assert await claim(bench, ClaimTasks([Queue(name="capped", max_concurrency=0)])) == []


async def test_a_capped_queue_leaves_the_slots_to_the_others(bench):
    send(bench, 5, "capped")
    send(bench, 5)
    taken = await claim(bench, ClaimTasks([CAPPED, PLAIN]), slots=6)
    assert sorted(task.queue for task in taken) == ["capped"] * 2 + ["default"] * 4


async def test_a_cap_lowered_below_what_is_in_flight_takes_nothing_more(bench):
    send(bench, 5, "capped")
    await claim(bench, ClaimTasks([CAPPED]))
    assert await claim(bench, ClaimTasks([Queue(name="capped", max_concurrency=1)])) == []


async def test_the_cluster_cap_counts_every_queue_and_worker(bench):
    send(bench, 5)
    send(bench, 5, "other")
    claims = ClaimTasks([PLAIN, Queue(name="other")], cluster_cap=4)
    await claim(bench, claims, slots=1, worker=bench.new_worker())
    await bench.claim(1, queues=("other",), start=False, worker=bench.new_worker())
    assert len(await claim(bench, claims)) == 2


async def test_the_cluster_cap_counts_queues_this_worker_does_not_serve(bench):
    send(bench, 3, "elsewhere")
    send(bench, 3)
    await bench.claim(3, queues=("elsewhere",), worker=bench.new_worker())
    assert await claim(bench, ClaimTasks([PLAIN], cluster_cap=3)) == []


async def test_what_is_prefetched_comes_after_what_is_started_and_waits_claimed(bench):
    send(bench, 5)
    taken = await claim(bench, ClaimTasks([PLAIN]), slots=2, prefetch_buffer=2)
    assert [task.status for task in taken] == [TaskStatus.RUNNING] * 2 + [TaskStatus.CLAIMED] * 2
    assert [task.attempt for task in taken] == [1, 1, 0, 0]


async def test_what_waits_in_the_worker_fills_its_prefetch_buffer(bench):
    send(bench, 5)
    room = {"prefetch_buffer": 2, "prefetched": 2, "held": 3}
    assert await claim(bench, ClaimTasks([PLAIN]), slots=0, **room) == []


async def test_a_capped_queue_is_never_prefetched(bench):
    send(bench, 2, "capped")
    send(bench, 1)
    taken = await claim(bench, ClaimTasks([CAPPED, PLAIN]), slots=0, prefetch_buffer=9)
    assert [task.queue for task in taken] == ["default"]


async def test_nothing_is_prefetched_under_a_cluster_cap(bench):
    send(bench, 5)
    taken = await claim(bench, ClaimTasks([PLAIN], cluster_cap=9), slots=1, prefetch_buffer=3)
    assert [task.status for task in taken] == [TaskStatus.RUNNING]


async def test_a_worker_holds_no_more_than_it_may(bench):
    send(bench, 9)
    taken = await claim(bench, ClaimTasks([PLAIN]), prefetch_buffer=9, held=2, max_held=5)
    assert len(taken) == 3


async def test_a_batch_is_bounded_per_queue(bench):
    send(bench, 5)
    send(bench, 5, "other")
    taken = await claim(bench, ClaimTasks([PLAIN, Queue(name="other")]), max_batch=2)
    assert sorted(task.queue for task in taken) == ["default"] * 2 + ["other"] * 2


async def test_excluded_names_are_left_for_others(bench):
    bench.send("stranger")
    known = bench.send("known")
    async with bench.unit_of_work() as tx:
        unfit = Unfit(names=frozenset({"stranger"}))
        taken = await ClaimTasks([PLAIN])(tx, bench.worker, Room(free_slots=9), unfit)
    assert [task.id for task in taken] == [known]


@dataclass
class Uncounted:
    """A transaction in which nobody may count."""

    store: TaskStore

    @property
    def tasks(self) -> "Uncounted":
        return self

    async def claim(self, order: Any) -> Any:
        return await self.store.claim(order)

    async def in_flight(self, queues: Any) -> Any:
        raise AssertionError(f"counted {queues}")


async def test_nobody_counts_where_nothing_is_capped(bench):
    send(bench, 1)
    async with bench.unit_of_work() as tx:
        taken = await ClaimTasks([PLAIN])(
            Uncounted(tx.tasks),  # pyright: ignore[reportArgumentType] - the part that is used
            bench.worker,
            Room(free_slots=1),
        )
    assert len(taken) == 1


steps = st.lists(
    st.tuples(st.sampled_from(["claim", "prefetch", "settle", "send"]), st.integers(0, 4)),
    max_size=30,
)


@given(steps, st.integers(1, 4))
def test_caps_hold_at_every_commit(history, cluster_cap):
    bench = new_bench()
    claims = ClaimTasks([CAPPED, PLAIN], cluster_cap=cluster_cap)
    held: list[Task] = []
    for verb, number in history:
        if verb == "send":
            send(bench, number, "capped")
            send(bench, number)
        elif verb == "settle" and held:
            drive(bench.settle(held.pop(number % len(held))))
        else:
            ahead = {"prefetch_buffer": number} if verb == "prefetch" else {}
            held += drive(claim(bench, claims, number, bench.new_worker(), **ahead))
        assert len(held) <= cluster_cap
        assert sum(task.queue == "capped" for task in held) <= 2


async def test_what_was_prefetched_starts_when_its_turn_comes(bench):
    bench.send()
    claimed = await bench.claim_one(start=False)
    async with bench.unit_of_work() as tx:
        answer = await start_tasks(tx, [claimed.claim])
    assert [task.status for task in answer.started] == [TaskStatus.RUNNING]
    assert answer.not_started == frozenset()


async def test_what_was_cancelled_expired_or_taken_over_is_named_and_not_started(bench):
    bench.send(good_until=bench.now() + timedelta(seconds=1))
    for _ in range(3):
        bench.send()
    expired, cancelled, taken, mine = await bench.claim(start=False)
    await bench.cancel(cancelled)
    async with bench.unit_of_work() as tx:
        await tx.tasks.release([taken.claim])
    await bench.claim_one(start=False, worker=bench.new_worker())
    bench.pass_time(seconds=1)
    async with bench.unit_of_work() as tx:
        answer = await start_tasks(tx, [task.claim for task in (expired, cancelled, taken, mine)])
    assert [task.id for task in answer.started] == [mine.id]
    assert answer.not_started == {expired.claim, cancelled.claim, taken.claim}


async def test_released_tasks_can_be_claimed_by_others(bench):
    bench.send()
    claimed = await bench.claim_one(start=False)
    async with bench.unit_of_work() as tx:
        assert await release_tasks(tx, [claimed.claim]) == 1
    again = await bench.claim_one(worker=bench.new_worker())
    assert (again.id, again.attempt) == (claimed.id, 1)


async def test_releasing_nothing_asks_nobody(bench):
    async with bench.unit_of_work() as tx:
        assert await release_tasks(tx, []) == 0
