"""What only the memory engine promises: one lock, nothing foreign awaited, everything undone."""

import asyncio
import threading
from datetime import timedelta

import pytest

from horsies.adapters.memory.tables import Journal, Table
from horsies.domain.outcome import Cancel, Complete, RetryAt
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.sending import Batch, KeyTaken
from horsies.domain.settlement import Settlement
from horsies.domain.task import IdempotencyKey
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import Pulse
from tests.contract.conftest import LEASE, World, memory_world


class Abort(Exception):  # noqa: N818 - a law's own signal
    pass


@pytest.fixture
def world() -> World:
    return memory_world()


async def in_vain(world: World, change, signal: type[BaseException] = Abort) -> None:
    """Change something, then give the transaction up."""

    async def give_up():
        async with world.unit_of_work() as tx:
            await change(tx)
            raise signal

    with pytest.raises(signal):
        await give_up()


def state(world: World):
    return world.unit_of_work._state


async def test_a_transaction_within_a_transaction_is_a_defect_that_is_named(world):
    async with world.unit_of_work():
        with pytest.raises(RuntimeError, match="left open across an await or a nested call"):
            async with world.unit_of_work():
                pass


async def test_a_send_within_a_transaction_is_the_same_defect(world):
    async with world.unit_of_work():
        with pytest.raises(RuntimeError, match="left open"):
            world.send()


async def test_a_transaction_left_open_across_an_await_is_found_by_the_next(world):
    opened, done = asyncio.Event(), asyncio.Event()

    async def careless():
        async with world.unit_of_work():
            opened.set()
            await done.wait()

    guilty = asyncio.create_task(careless())
    await opened.wait()
    with pytest.raises(RuntimeError, match="left open across an await"):
        world.send()
    done.set()
    await guilty
    world.send()


async def test_the_engine_works_on_after_that_defect(world):
    async with world.unit_of_work():
        with pytest.raises(RuntimeError):
            world.send()
    world.send()
    assert len(await world.claim()) == 1


async def test_another_thread_waits_for_its_turn(world):
    order = []

    def send():
        world.send()
        order.append("sent")

    async with world.unit_of_work():
        sender = threading.Thread(target=send)
        sender.start()
        sender.join(timeout=0.05)
        order.append("committed")
    sender.join(timeout=30)
    assert order == ["committed", "sent"]


def snapshot(world: World):
    tables = ("live", "history", "attempts", "keys", "workers", "heartbeats", "last_beats")
    return {name: dict(getattr(state(world), name).items()) for name in tables}


async def busy(world: World):
    """A world with rows in every table."""
    world.inbox.accept(Batch(tasks=[world.new_task(idempotency=IdempotencyKey("k", b"f"))]))
    await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"), b"1")
    await world.settle(await world.claim_one(), Complete(), b"2")
    for _ in range(3):
        world.send()
    world.send(delay=timedelta(seconds=5))
    world.send(good_until=world.now() + timedelta(seconds=1))
    running = await world.claim_one()
    await world.beat(running=[running.claim])
    world.pass_time(days=60)
    return running


async def change_everything(world: World, tx, running) -> None:
    await tx.workers.beat(Pulse(world.record(world.worker), running=[running.claim]), LEASE)
    await tx.tasks.settle([Settlement(running.claim, RetryAt(world.now(), "X"), b"3")])
    await tx.tasks.promote(["default"], 10)
    await tx.tasks.insert([world.new_task()])
    await tx.recovery.expire(10)
    await tx.recovery.purge(timedelta(days=1), 10)
    await tx.recovery.purge_heartbeats(world.now(), 10)
    await tx.recovery.purge_workers(world.now(), 10)
    live = state(world).live.rows()
    pending = [task.id for task in live if task.status is TaskStatus.PENDING]
    await tx.tasks.cancel(pending[:1])


async def test_every_table_is_undone(world):
    running = await busy(world)
    before = snapshot(world)
    assert all(before.values())
    after = {}

    async def change(tx):
        await change_everything(world, tx, running)
        after.update(snapshot(world))

    await in_vain(world, change)
    assert all(after[name] != before[name] for name in before)
    assert snapshot(world) == before


async def test_counts_are_undone_with_the_tables(world):
    running = await busy(world)
    async with world.unit_of_work() as tx:
        before = await tx.archive.counts()
    await in_vain(world, lambda tx: change_everything(world, tx, running))
    async with world.unit_of_work() as tx:
        assert await tx.archive.counts() == before


async def test_an_undone_ending_wakes_nobody(world):
    world.send()
    task = await world.claim_one()
    with world.completions.watch([task.id]) as watch:
        settlement = Settlement(task.claim, Complete(), b"1")
        await in_vain(world, lambda tx: tx.tasks.settle([settlement]))
        assert not await watch.wait(0.01)


async def test_a_cancelled_transaction_is_undone(world):
    world.send()
    task = await world.claim_one()
    settlement = Settlement(task.claim, Complete(), b"1")
    await in_vain(world, lambda tx: tx.tasks.settle([settlement]), asyncio.CancelledError)
    assert await world.find(task.id) == task


async def test_an_undone_claim_keeps_the_order_of_the_queue(world):
    ids = [world.send() for _ in range(5)]
    order = ClaimOrder(world.worker, 3, ((Share("default", 3),),), start=True)
    await in_vain(world, lambda tx: tx.tasks.claim(order))
    assert [task.id for task in await world.claim()] == ids


async def test_a_full_inbox_stores_no_key(world):
    keyed = world.new_task(idempotency=IdempotencyKey("k", b"f"))
    world.inbox.accept(Batch(tasks=[keyed], max_pending={"default": 0}))
    other = world.new_task(idempotency=IdempotencyKey("k", b"g"))
    assert not isinstance(world.inbox.accept(Batch(tasks=[other]))[0], KeyTaken)


async def test_who_watches_many_is_forgotten_for_all_of_them(world):
    ids = [world.send() for _ in range(3)]
    with world.completions.watch(ids), world.completions.watch(ids[:1]):
        pass
    assert not world.completions._watches


async def test_ringing_for_a_loop_that_is_closed_does_no_harm(world):
    task_id = world.send()
    kept = []

    async def watch():
        manager = world.completions.watch([task_id])
        kept.append(manager)
        manager.__enter__()

    await asyncio.to_thread(lambda: asyncio.run(watch()))
    await world.settle(await world.claim_one())
    kept[0].__exit__(None, None, None)


async def test_forgotten_tasks_leave_no_rows_behind(world):
    await busy(world)
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task.id for task in state(world).live.rows()])
    for task in state(world).live.rows():
        await world.settle(task, Cancel(), None)
    world.pass_time(days=60)
    async with world.unit_of_work() as tx:
        await tx.recovery.purge(timedelta(days=1), 100)
        await tx.recovery.purge_heartbeats(world.now(), 100)
        await tx.recovery.purge_workers(world.now(), 100)
    assert not any(snapshot(world).values())


class TestTables:
    def test_a_table_restores_what_it_held(self):
        journal = Journal()
        table: Table[str, int] = Table(journal)
        table.put("kept", 1)
        table.put("dropped", 2)
        journal.forget()
        table.put("kept", 9)
        table.drop("dropped")
        table.put("new", 3)
        journal.undo()
        assert dict(table.items()) == {"kept": 1, "dropped": 2}

    def test_changes_to_one_row_are_undone_in_reverse(self):
        journal = Journal()
        table: Table[str, int] = Table(journal)
        for value in (1, 2, 3):
            table.put("row", value)
        journal.undo()
        assert "row" not in table
        assert len(table) == 0

    def test_what_is_forgotten_cannot_be_undone(self):
        journal = Journal()
        table: Table[str, int] = Table(journal)
        table.put("row", 1)
        journal.forget()
        journal.undo()
        assert table.get("row") == 1

    def test_rows_may_change_while_they_are_read(self):
        table: Table[int, int] = Table(Journal())
        for n in range(3):
            table.put(n, n)
        for row in table.rows():
            table.drop(row)
        assert len(table) == 0
