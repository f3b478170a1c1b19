"""What goes wrong in the database is told by its kind, and passes when its cause does."""

import asyncio
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.sending import Accepted, Batch
from tests.contract.conftest import postgres_world

END_SESSIONS = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = %s"
)


@pytest.fixture
def dsn(own_dsn):
    return own_dsn


def send(world):
    return world.inbox.accept(Batch(tasks=[world.new_task()]))


async def send_async(world):
    return await world.inbox.accept_async(Batch(tasks=[world.new_task()]))


async def look(world):
    async with world.unit_of_work() as tx:
        return await tx.archive.counts()


@contextmanager
def locked(dsn):
    """Nobody else gets at the tasks."""
    with psycopg.connect(dsn) as owner:
        owner.execute("LOCK TABLE horsies_tasks IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def told(fault, *words):
    with pytest.raises(BrokerError) as raised:
        yield
    assert raised.value.fault is fault
    for word in words:
        assert word in str(raised.value)


async def test_a_send_to_a_read_only_database_says_so_and_may_be_repeated(dsn, onlooker):
    name = sql.Identifier(onlooker.info.dbname)
    onlooker.execute(
        sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name)
    )
    async with postgres_world(dsn) as world:
        with told(BrokerFault.READ_ONLY, "standby"):
            send(world)
        with told(BrokerFault.READ_ONLY):
            await send_async(world)
        assert await look(world) == {}
    assert BrokerFault.READ_ONLY.retryable


async def test_a_statement_that_takes_too_long_is_given_up_as_busy(dsn):
    async with postgres_world(dsn, statement_timeout_ms=50) as world:
        with locked(dsn), told(BrokerFault.BUSY, "statement_timeout_ms"):
            send(world)
        assert await look(world) == {}


async def test_a_lock_that_is_held_for_too_long_is_given_up_as_busy(dsn, world):
    with locked(dsn), told(BrokerFault.BUSY, "held by someone else"):
        send(world)
    assert [type(receipt) for receipt in send(world)] == [Accepted]


async def test_missing_tables_are_told_with_the_remedy(servers):
    with servers.get().database(template="template1") as empty:
        async with postgres_world(empty) as world:
            with told(BrokerFault.SCHEMA, "horsies db migrate"):
                send(world)
            with told(BrokerFault.SCHEMA, "horsies db migrate"):
                await look(world)


async def test_a_missing_schema_is_told_with_the_remedy(dsn):
    async with postgres_world(dsn, schema="nowhere") as world:
        with told(BrokerFault.SCHEMA, "horsies db migrate"):
            send(world)


async def test_a_missing_column_is_told_with_the_remedy(dsn, world, onlooker):
    onlooker.execute("ALTER TABLE horsies_tasks DROP COLUMN retry_of")
    with told(BrokerFault.SCHEMA, "horsies db migrate"):
        send(world)


async def test_a_user_without_grants_is_told_so(dsn, servers, onlooker):
    onlooker.execute(
        "DO $$ BEGIN CREATE ROLE horsies_stranger LOGIN;"
        " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    stranger = psycopg.conninfo.make_conninfo(dsn, user="horsies_stranger")
    async with postgres_world(stranger) as world:
        with told(BrokerFault.DENIED):
            send(world)


async def test_a_closed_engine_says_so(dsn):
    async with postgres_world(dsn) as world:
        send(world)
        await look(world)
    with told(BrokerFault.CLOSED):
        send(world)
    with told(BrokerFault.CLOSED):
        await look(world)


async def test_a_send_survives_the_end_of_all_producers_sessions(world, onlooker):
    with_five_ready = [send(world) for _ in range(5)]
    assert onlooker.execute(END_SESSIONS, ["horsies producer"]).rowcount >= 1
    assert [type(receipt) for receipt in send(world)] == [Accepted]
    (stored,) = onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone()
    assert stored == len(with_five_ready) + 1


async def test_an_async_send_survives_the_end_of_all_sessions_that_are_kept_ready(world, onlooker):
    await asyncio.gather(*(send_async(world) for _ in range(20)))
    assert onlooker.execute(END_SESSIONS, ["horsies engine"]).rowcount >= 1
    assert [type(receipt) for receipt in await send_async(world)] == [Accepted]


async def test_a_transaction_whose_session_was_ended_is_undone_and_told(world, onlooker):
    async def insert_and_lose_the_session():
        async with world.unit_of_work() as tx:
            await tx.tasks.insert([world.new_task()])
            onlooker.execute(END_SESSIONS, ["horsies engine"])

    with told(BrokerFault.CONNECTION):
        await insert_and_lose_the_session()
    assert await look(world) == {}


async def test_no_transaction_is_left_open_by_a_failure(world, onlooker):
    async def fail():
        async with world.unit_of_work() as tx:
            await tx.tasks.insert([world.new_task(priority=0)])

    with pytest.raises(BrokerError):
        await fail()
    idle = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    assert onlooker.execute(idle).fetchone() == (0,)
