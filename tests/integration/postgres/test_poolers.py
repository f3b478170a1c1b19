"""Through a pooler in transaction mode the contract holds; only LISTEN goes past it."""

import inspect
from types import ModuleType

import psycopg
import pytest

from horsies.adapters.postgres.migrate import PostgresSchema, migrations
from horsies.domain.errors import BrokerError, BrokerFault
from tests.contract import (
    test_cancelling,
    test_claiming,
    test_recovery,
    test_sending,
    test_settling,
    test_transactions,
    test_workers,
)
from tests.contract.conftest import postgres_world
from tests.integration.postgres.bouncer import bouncing, modes
from tests.postgres import link_to

MODULES = (
    test_cancelling,
    test_claiming,
    test_recovery,
    test_sending,
    test_settling,
    test_transactions,
    test_workers,
)


def laws_of(module: ModuleType):
    """Those that need nothing but a world."""
    for name, law in inspect.getmembers(module, inspect.iscoroutinefunction):
        if name.startswith("test_") and list(inspect.signature(law).parameters) == ["world"]:
            yield pytest.param(law, id=name.removeprefix("test_"))


LAWS = [law for module in MODULES for law in laws_of(module)]


@pytest.fixture(scope="module")
def database(servers):
    with servers.get().database() as dsn:
        yield dsn


@pytest.fixture(scope="module", params=modes())
def bounced(request, database):
    with bouncing(database, request.param) as bounced:
        yield bounced


@pytest.fixture
async def world(bounced, dsn):
    async with postgres_world(bounced, session_settings=False, listen_dsn=dsn) as world:
        yield world


@pytest.mark.parametrize("law", LAWS)
async def test_the_contract_holds_through_a_pooler(world, law):
    await law(world)


async def test_a_transaction_through_a_pooler_brings_its_settings(world, bounced, dsn):
    task_id = world.send()
    with psycopg.connect(dsn) as owner:
        owner.execute("SELECT FROM horsies_tasks FOR UPDATE")
        with pytest.raises(BrokerError) as raised:
            async with world.unit_of_work() as tx:
                await tx.tasks.cancel([task_id])
    assert raised.value.fault is BrokerFault.BUSY


async def test_no_setting_outlives_its_transaction(world, bounced):
    world.send()
    await world.claim()
    with psycopg.connect(bounced, autocommit=True, prepare_threshold=None) as next_client:
        for _ in range(8):
            shown = next_client.execute("SHOW enable_seqscan").fetchone()
            assert shown == ("on",)


async def test_a_schema_is_migrated_through_a_pooler(bounced, dsn):
    link = link_to(bounced, session_settings=False, schema="pooled")
    assert await PostgresSchema(link).migrate() == migrations()
    assert (await PostgresSchema(link).state()).problem is None
    with psycopg.connect(dsn) as owner:
        owner.execute("DROP SCHEMA pooled CASCADE")


def test_there_are_laws_to_hold():
    assert len(LAWS) > 80
