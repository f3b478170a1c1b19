"""A replay may meet its first copy at any moment of that copy's life: there is one task."""

import asyncio
from contextlib import suppress

import psycopg
import pytest

from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.sending import SendScripts
from horsies.domain.outcome import Complete
from horsies.domain.sending import Accepted, AlreadyThere, Batch
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus
from tests.integration.postgres.waiting import until_waiting


class Undo(Exception):  # noqa: N818 - a test's own signal
    pass


class SlowReplay:
    """A replay that has looked for its first copy and found none, and goes on when told to."""

    def __init__(self, dsn, world, task):
        self._connection = psycopg.connect(dsn)
        batch = Batch(tasks=[task], replay=True)
        self._script = SendScripts(Queries("public"), "test").accept(batch, world.now())
        self._ask = next(self._script)
        self._found = self._execute()

    def go_on(self):
        try:
            while True:
                self._ask = self._script.send(self._found)
                self._found = self._execute()
        except StopIteration as done:
            self._connection.commit()
            return done.value
        finally:
            self._connection.close()

    def _execute(self):
        cursor = self._connection.execute(self._ask.statement, self._ask.values)
        return cursor.fetchall() if self._ask.answers else ()


async def copies(onlooker, task_id):
    query = (
        "SELECT (SELECT count(*) FROM horsies_tasks WHERE id = %(id)s),"
        " (SELECT count(*) FROM horsies_task_history WHERE id = %(id)s)"
    )
    return onlooker.execute(query, {"id": task_id}).fetchone()


async def test_a_replay_during_the_settle_of_its_first_copy_is_recognised(patient_world, onlooker):
    world = patient_world
    task = world.new_task()
    world.inbox.accept(Batch(tasks=[task]))
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.settle([Settlement(running.claim, Complete(), b"{}")])
        replayed = await asyncio.to_thread(world.inbox.accept, Batch(tasks=[task], replay=True))
    assert replayed == [AlreadyThere(task.id, task.name, task.payload)]
    assert await copies(onlooker, task.id) == (0, 1)


async def test_a_replay_whose_first_copy_ends_while_it_inserts_takes_its_own_back(
    dsn, patient_world, onlooker
):
    world = patient_world
    task = world.new_task()
    replay = SlowReplay(dsn, world, task)
    world.inbox.accept(Batch(tasks=[task]))
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.settle([Settlement(running.claim, Complete(), b"{}")])
        replaying = asyncio.create_task(asyncio.to_thread(replay.go_on))
        await until_waiting(onlooker)
    assert await replaying == [AlreadyThere(task.id, task.name, task.payload)]
    assert await copies(onlooker, task.id) == (0, 1)


async def test_a_replay_whose_first_copy_does_not_end_after_all_makes_no_second_one(
    dsn, patient_world, onlooker
):
    world = patient_world
    task = world.new_task()
    replay = SlowReplay(dsn, world, task)
    world.inbox.accept(Batch(tasks=[task]))
    running = await world.claim_one()
    with suppress(Undo):
        async with world.unit_of_work() as tx:
            await tx.tasks.settle([Settlement(running.claim, Complete(), b"{}")])
            replaying = asyncio.create_task(asyncio.to_thread(replay.go_on))
            await until_waiting(onlooker)
            raise Undo
    await replaying
    assert await copies(onlooker, task.id) == (1, 0)
    assert await world.find(task.id) == running


@pytest.mark.parametrize("committed", [True, False])
async def test_a_replay_during_the_first_send_waits_for_its_fate(
    dsn, patient_world, onlooker, committed
):
    world = patient_world
    task = world.new_task()
    with psycopg.connect(dsn) as caller:
        world.inbox.accept(Batch(tasks=[task]), caller)
        replaying = asyncio.create_task(
            asyncio.to_thread(world.inbox.accept, Batch(tasks=[task], replay=True))
        )
        await until_waiting(onlooker)
        if not committed:
            caller.rollback()
    await replaying
    assert await copies(onlooker, task.id) == (1, 0)


async def test_a_replay_of_what_never_arrived_is_a_first_send(world):
    task = world.new_task()
    assert world.inbox.accept(Batch(tasks=[task], replay=True)) == [Accepted(task.id)]
    assert (await world.find(task.id)).status is TaskStatus.PENDING


async def test_of_a_replayed_batch_only_what_is_missing_is_added(world):
    tasks = [world.new_task() for _ in range(6)]
    world.inbox.accept(Batch(tasks=tasks[::2]))
    await world.settle(await world.claim_one())
    receipts = world.inbox.accept(Batch(tasks=tasks, replay=True))
    assert [type(receipt) for receipt in receipts] == [AlreadyThere, Accepted] * 3
    assert len(await world.claim()) == 5
