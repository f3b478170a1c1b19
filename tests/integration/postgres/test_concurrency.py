"""Many at once: nobody waits for a row that another takes, caps hold, and nothing deadlocks."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from horsies.application.usecases.claim_tasks import ClaimTasks
from horsies.domain.queue import ClaimOrder, Queue, Room, Share
from horsies.domain.sending import Accepted, Batch, KeyTaken, QueueFull
from horsies.domain.task import IdempotencyKey
from tests.integration.postgres.waiting import until_waiting

CLAIMERS = 6
TASKS = 90
LOG_OF_IN_FLIGHT = """
CREATE TABLE seen (at bigserial, queue_name text, held bigint);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO seen (queue_name, held)
        SELECT coalesce(queue_name, 'all'), count(*) FROM horsies_tasks
        WHERE worker_id IS NOT NULL GROUP BY ROLLUP (queue_name);
    RETURN NULL;
END $$;
CREATE TRIGGER look AFTER UPDATE ON horsies_tasks FOR EACH STATEMENT EXECUTE FUNCTION look();
"""


@pytest.fixture
def dsn(own_dsn):
    return own_dsn


async def test_a_claimer_does_not_wait_for_another_s_open_transaction(world):
    sent = [world.send() for _ in range(4)]
    order = ClaimOrder(world.worker, 2, ((Share("default", 2),),), start=True)
    async with world.unit_of_work() as one:
        first = await one.tasks.claim(order)
        async with world.unit_of_work() as other:
            second = await other.tasks.claim(order)
    assert [task.id for task in [*first, *second]] == sent


async def test_a_claim_that_was_undone_is_taken_by_the_next(world):
    sent = [world.send() for _ in range(2)]

    async def claim_and_fail():
        async with world.unit_of_work() as tx:
            await tx.tasks.claim(ClaimOrder(world.worker, 2, ((Share("default", 2),),), start=True))
            raise LookupError

    with pytest.raises(LookupError):
        await claim_and_fail()
    claimed = await world.claim()
    assert [(task.id, task.epoch) for task in claimed] == [(task_id, 1) for task_id in sent]


async def test_a_promotion_passes_over_what_another_promotes(world):
    for _ in range(4):
        world.send(eta=world.now().replace(hour=13))
    world.pass_time(hours=1)
    async with world.unit_of_work() as one:
        assert await one.tasks.promote(["default"], 2) == 2
        async with world.unit_of_work() as other:
            assert await other.tasks.promote(["default"], 10) == 2


@pytest.mark.parametrize(
    ("queue_cap", "cluster_cap", "most"),
    [
        (4, None, {"default": 4}),
        (None, 5, {"all": 5}),
        (4, 7, {"default": 4, "all": 7}),
    ],
)
async def test_no_commit_of_many_claimers_exceeds_a_cap(
    world, onlooker, queue_cap, cluster_cap, most
):
    onlooker.execute(LOG_OF_IN_FLIGHT)
    names = ["default", "other"] * (TASKS // 2)
    world.inbox.accept(Batch(tasks=[world.new_task(queue=name) for name in names]))
    queues = [Queue(name="default", max_concurrency=queue_cap), Queue(name="other")]
    claim = ClaimTasks(queues, cluster_cap)
    left = set(range(TASKS))

    async def work():
        worker = world.new_worker()
        while left:
            async with world.unit_of_work() as tx:
                claimed = await claim(tx, worker, Room(free_slots=3))
            for task in claimed:
                await world.settle(task)
                left.pop()

    await asyncio.gather(*(work() for _ in range(CLAIMERS)))
    seen = dict(onlooker.execute("SELECT queue_name, max(held) FROM seen GROUP BY 1").fetchall())
    assert all(seen[name] <= cap for name, cap in most.items())
    assert onlooker.execute("SELECT count(*) FROM horsies_task_history").fetchone() == (TASKS,)


async def test_caps_are_counted_after_the_turn_has_come(patient_world, onlooker):
    """A count from before the wait would not see what the one in front has taken."""
    world = patient_world
    for _ in range(4):
        world.send()
    claim = ClaimTasks([Queue(name="default", max_concurrency=3)])

    async def take():
        async with world.unit_of_work() as tx:
            return await claim(tx, world.new_worker(), Room(free_slots=2))

    async with world.unit_of_work() as tx:
        first = await claim(tx, world.worker, Room(free_slots=2))
        taking = asyncio.create_task(take())
        await until_waiting(onlooker)
    assert (len(first), len(await taking)) == (2, 1)


def in_threads(count, act):
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(act, range(count)))


async def test_of_fifty_producers_with_one_key_exactly_one_makes_a_task(world, onlooker):
    tasks = [world.new_task(idempotency=IdempotencyKey("k", b"f")) for _ in range(50)]
    receipts = in_threads(50, lambda n: world.inbox.accept(Batch(tasks=[tasks[n]]))[0])
    (winner,) = [receipt.id for receipt in receipts if isinstance(receipt, Accepted)]
    assert [r for r in receipts if r != Accepted(winner)] == [KeyTaken(winner, b"f")] * 49
    assert onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone() == (1,)


async def test_many_producers_do_not_overfill_a_bounded_queue(world, onlooker):
    batches = [Batch(tasks=[world.new_task()], max_pending={"default": 7}) for _ in range(30)]
    receipts = in_threads(30, lambda n: world.inbox.accept(batches[n])[0])
    assert sum(isinstance(receipt, Accepted) for receipt in receipts) == 7
    assert receipts.count(QueueFull("default", 7)) == 23
    assert onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone() == (7,)


async def test_many_replays_of_one_send_make_one_task(world, onlooker):
    batch = Batch(tasks=[world.new_task()], replay=True)
    in_threads(20, lambda _: world.inbox.accept(batch))
    assert onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone() == (1,)


async def test_epochs_only_grow(world, onlooker):
    onlooker.execute(
        "CREATE TABLE epochs (at bigserial, task_id uuid, epoch int);"
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO epochs (task_id, epoch) VALUES (new.id, new.epoch); RETURN NULL; END $$;"
        "CREATE TRIGGER note AFTER UPDATE ON horsies_tasks"
        " FOR EACH ROW EXECUTE FUNCTION note()"
    )
    world.inbox.accept(Batch(tasks=[world.new_task() for _ in range(10)]))

    async def take_and_release():
        worker = world.new_worker()
        for _ in range(15):
            claimed = await world.claim(3, worker=worker, start=False)
            async with world.unit_of_work() as tx:
                await tx.tasks.release([task.claim for task in claimed])

    await asyncio.gather(*(take_and_release() for _ in range(4)))
    rows = onlooker.execute("SELECT task_id, epoch FROM epochs ORDER BY task_id, at").fetchall()
    assert all(a[0] != b[0] or b[1] - a[1] in {0, 1} for a, b in pairwise(rows))
