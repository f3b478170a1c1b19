"""One caller of every kind, and somebody who looks at what they leave behind."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

import psycopg
import pytest

from tests.integration.callers import django_kinds, kinds
from tests.integration.callers.kinds import Caller

KINDS = {
    "psycopg": kinds.psycopg_connection,
    "psycopg-dicts": kinds.psycopg_with_dicts,
    "psycopg-async": kinds.psycopg_async_connection,
    "sqlalchemy-connection": kinds.sqlalchemy_connection,
    "sqlalchemy-session": kinds.sqlalchemy_session,
    "sqlalchemy-scoped-session": kinds.sqlalchemy_scoped_session,
    "sqlalchemy-async-connection-psycopg": partial(kinds.sqlalchemy_async_connection, "psycopg"),
    "sqlalchemy-async-connection-asyncpg": partial(kinds.sqlalchemy_async_connection, "asyncpg"),
    "sqlalchemy-async-session-psycopg": partial(kinds.sqlalchemy_async_session, "psycopg"),
    "sqlalchemy-async-session-asyncpg": partial(kinds.sqlalchemy_async_session, "asyncpg"),
    "sqlalchemy-async-scoped-session": partial(kinds.sqlalchemy_async_scoped_session, "asyncpg"),
    "django-alias": django_kinds.django_alias,
    "django-connection": django_kinds.django_connection,
    "django-current-connection": django_kinds.django_current_connection,
    "django-async": django_kinds.django_in_async_code,
}


@dataclass(frozen=True)
class Observer:
    """What others see."""

    connection: psycopg.Connection

    def count(self, table: str) -> int:
        return self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    @property
    def tasks(self) -> int:
        return self.count("horsies_tasks")

    @property
    def keys(self) -> int:
        return self.count("horsies_idempotency_keys")

    @property
    def orders(self) -> int:
        return self.count("orders")


@pytest.fixture
def observer(postgres_dsn: str) -> Generator[Observer]:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (name text PRIMARY KEY)")
        yield Observer(connection)


@pytest.fixture(params=KINDS)
def caller(request: pytest.FixtureRequest, postgres_dsn: str) -> Generator[Caller]:
    with KINDS[request.param](postgres_dsn) as caller:
        yield caller
