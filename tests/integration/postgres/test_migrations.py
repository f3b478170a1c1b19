"""Migrations: each is applied once, by whoever may, into any schema; strangers are recognised."""

import asyncio

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from horsies.adapters.postgres import migrate
from horsies.adapters.postgres.migrate import PostgresSchema, migrations, newest, number_of
from horsies.application.ports.schema import SchemaState
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import RetryAt
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import postgres_world
from tests.postgres import kinds, link_to

SCHEMAS = ["jobs", "order", "_", "a" * 40, "a" * 41, "z" * 48]


@pytest.fixture
def dsn(own_dsn):
    return own_dsn


@pytest.fixture(params=kinds())
def bare_dsn(request, servers):
    with servers.get(request.param).database(template="template1") as dsn:
        yield dsn


def schema_of(dsn, **options):
    return PostgresSchema(link_to(dsn, **options))


async def test_migrating_twice_does_nothing(bare_dsn):
    assert await schema_of(bare_dsn).migrate() == migrations()
    assert await schema_of(bare_dsn).migrate() == ()


async def test_of_eight_migrators_at_once_one_applies_each(bare_dsn):
    applied = await asyncio.gather(*(schema_of(bare_dsn).migrate() for _ in range(8)))
    assert sorted(applied) == [()] * 7 + [migrations()]


def test_migrations_are_numbered_without_gaps():
    assert [number_of(name) for name in migrations()] == list(range(newest() + 1))


async def test_a_migrated_schema_has_no_problem(bare_dsn):
    await schema_of(bare_dsn).migrate()
    state = await schema_of(bare_dsn).state()
    assert (state.problem, state.version) == (None, newest())


async def test_what_is_missing_is_added_to_what_is_there(bare_dsn, monkeypatch):
    *former, latest = migrations()
    with monkeypatch.context() as formerly:
        formerly.setattr(migrate, "migrations", lambda: tuple(former))
        await schema_of(bare_dsn).migrate()
    assert await schema_of(bare_dsn).migrate() == (latest,)


async def test_a_migration_that_fails_leaves_nothing_behind(bare_dsn):
    with psycopg.connect(bare_dsn) as owner:
        owner.execute("CREATE TABLE horsies_workers ()")
    with pytest.raises(BrokerError):
        await schema_of(bare_dsn).migrate()
    assert (await schema_of(bare_dsn).state()).version is None


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_a_task_leads_a_whole_life_in_a_schema_of_any_name(bare_dsn, schema):
    await schema_of(bare_dsn, schema=schema).migrate()
    async with postgres_world(bare_dsn, schema=schema) as world:
        task_id = world.send()
        await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"))
        with world.completions.watch([task_id]) as watch:
            waiting = asyncio.create_task(watch.wait(30))
            await world.settle(await world.claim_one())
            assert await waiting
        assert (await world.find(task_id)).status is TaskStatus.COMPLETED


async def test_each_schema_has_channels_of_its_own_with_names_that_the_server_takes_whole():
    links = [link_to("", schema=schema) for schema in ["public", *SCHEMAS]]
    names = [name for link in links for name in (link.new_channel, link.done_channel)]
    assert max(len(name.encode()) for name in names) < 64
    assert len(set(names)) == len(names)


async def test_a_send_is_announced_on_the_channel_of_its_schema(bare_dsn):
    await schema_of(bare_dsn, schema="z" * 48).migrate()
    with psycopg.connect(bare_dsn, autocommit=True) as listener:
        channel = link_to(bare_dsn, schema="z" * 48).new_channel
        listener.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        async with postgres_world(bare_dsn, schema="z" * 48) as world:
            world.send()
        (heard,) = listener.notifies(timeout=30, stop_after=1)
    assert heard.payload == "default"


async def test_two_schemas_of_one_database_do_not_see_each_other(bare_dsn):
    for schema in ("one", "two"):
        await schema_of(bare_dsn, schema=schema).migrate()
    async with (
        postgres_world(bare_dsn, schema="one") as one,
        postgres_world(bare_dsn, schema="two") as two,
    ):
        task_id = one.send()
        assert await two.claim() == []
        async with two.unit_of_work() as tx:
            assert await tx.archive.find([task_id]) == {}
        assert [task.id for task in await one.claim()] == [task_id]


async def test_a_user_who_owns_a_schema_needs_no_other_right(bare_dsn):
    with psycopg.connect(bare_dsn, autocommit=True) as owner:
        owner.execute(
            "DO $$ BEGIN CREATE ROLE horsies_tenant LOGIN;"
            " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        owner.execute("CREATE SCHEMA tenant AUTHORIZATION horsies_tenant")
    tenant = make_conninfo(bare_dsn, user="horsies_tenant")
    assert await schema_of(tenant, schema="tenant").migrate() == migrations()
    with pytest.raises(BrokerError) as raised:
        await schema_of(tenant, schema="another").migrate()
    assert raised.value.fault is BrokerFault.DENIED
    async with postgres_world(tenant, schema="tenant") as world:
        world.send()
        await world.settle(await world.claim_one())
    with psycopg.connect(bare_dsn) as owner:
        owner.execute("DROP OWNED BY horsies_tenant")


async def test_a_database_without_tables_is_told_in_one_sentence(bare_dsn):
    problem = (await schema_of(bare_dsn).state()).problem
    assert problem == "the tables of Horsies are not there: run `horsies db migrate`"


async def test_tables_that_are_too_old_are_told_in_one_sentence(dsn, onlooker):
    onlooker.execute("DELETE FROM horsies_schema WHERE version > 1")
    problem = (await schema_of(dsn).state()).problem
    assert problem is not None
    assert "version 1" in problem
    assert "horsies db migrate" in problem


async def test_tables_that_are_too_new_are_told_and_left_alone(dsn, onlooker):
    onlooker.execute("INSERT INTO horsies_schema (version, oldest_client) VALUES (99, 99)")
    problem = (await schema_of(dsn).state()).problem
    assert problem is not None
    assert "upgrade Horsies" in problem
    assert await schema_of(dsn).migrate() == ()


async def test_newer_tables_that_still_serve_this_client_are_no_problem(dsn, onlooker):
    onlooker.execute("INSERT INTO horsies_schema (version, oldest_client) VALUES (99, 1)")
    state = await schema_of(dsn).state()
    assert (state.problem, state.version) == (None, 99)


def test_every_problem_is_one_line():
    states = [SchemaState(3, 3), SchemaState(3, 3, 1, 1), SchemaState(3, 3, 9, 9)]
    assert all(state.problem and "\n" not in state.problem for state in states)
