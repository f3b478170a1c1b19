"""A migrated database of each server, and an engine on it that lives by a virtual clock."""

from collections.abc import AsyncGenerator, Generator

import psycopg
import pytest

from tests.contract.conftest import World, postgres_world
from tests.postgres import Servers, kinds


@pytest.fixture(params=kinds())
def dsn(request: pytest.FixtureRequest, servers: Servers) -> Generator[str]:
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
