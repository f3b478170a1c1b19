"""A migrated database of each server, and an engine on it that lives by a virtual clock."""

from collections.abc import AsyncGenerator, Generator

import psycopg
import pytest

from horsies.adapters.embedded.binaries import find_binaries
from horsies.adapters.postgres import link
from tests.contract.conftest import World, postgres_world
from tests.integration.postgres.bouncer import modes
from tests.postgres import Servers, kinds

TABLES = (
    "horsies_tasks",
    "horsies_task_history",
    "horsies_past_attempts",
    "horsies_idempotency_keys",
    "horsies_workers",
    "horsies_heartbeats",
    "horsies_queues",
    "horsies_suspensions",
)
SETS_SIZE_OF_NOTIFICATION_QUEUE = 17

collect_ignore = []
if not modes():  # no PgBouncer on this machine
    collect_ignore.append("test_poolers.py")
if find_binaries().major < SETS_SIZE_OF_NOTIFICATION_QUEUE:  # before, it takes 8 GB to fill it
    collect_ignore.append("test_deaf_listeners.py")


@pytest.fixture(scope="module", params=kinds())
def database(request: pytest.FixtureRequest, servers: Servers) -> Generator[str]:
    """For all laws of a module that leave tables and settings as they are."""
    with servers.get(request.param).database() as dsn:
        yield dsn


@pytest.fixture
def dsn(database: str) -> str:
    """As empty as a new one."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("; ".join(f"DELETE FROM {table}" for table in TABLES).encode())
    return database


@pytest.fixture(params=kinds())
def own_dsn(request: pytest.FixtureRequest, servers: Servers) -> Generator[str]:
    """For a law that changes the database itself."""
    with servers.get(request.param).database() as dsn:
        yield dsn


@pytest.fixture
async def world(dsn: str) -> AsyncGenerator[World]:
    async with postgres_world(dsn) as world:
        yield world


@pytest.fixture
def onlooker(dsn: str) -> Generator[psycopg.Connection]:
    """Somebody with plain SQL who sees what is committed."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def patient_world(dsn: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World]:
    """Its statements wait for locks as long as a law needs to hold them."""
    monkeypatch.setattr(link, "LOCK_TIMEOUT_MS", 30_000)
    async with postgres_world(dsn) as world:
        yield world
