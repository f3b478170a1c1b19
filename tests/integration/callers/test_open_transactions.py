"""Whether the connection that a task was completed on is inside a transaction still."""

import asyncio

import psycopg
import pytest
from django import db
from django.db import transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from tests.integration.callers.django_kinds import django_database
from tests.integration.callers.kinds import COMPLETER, RESULT, async_engine_for, engine_for
from tests.integration.callers.test_completing import running  # noqa: F401 - a fixture


def test_of_psycopg(postgres_dsn, running):  # noqa: F811 - the fixture
    with psycopg.connect(postgres_dsn) as connection:
        still_open = COMPLETER.complete(running, RESULT, connection)
        assert still_open()
        connection.commit()
        assert not still_open()
        connection.execute("SELECT 1")
        assert still_open()
        connection.close()
        assert not still_open()


def test_of_psycopg_that_commits_each_statement(postgres_dsn, running):  # noqa: F811 - same
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        assert not COMPLETER.complete(running, RESULT, connection)()


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_of_sqlalchemy(postgres_dsn, running, how):  # noqa: F811 - same
    with engine_for(postgres_dsn) as engine, Session(engine) as session:
        still_open = COMPLETER.complete(running, RESULT, session)
        assert still_open()
        getattr(session, how)()
        assert not still_open()


def test_of_a_scoped_session(postgres_dsn, running):  # noqa: F811 - same
    with engine_for(postgres_dsn) as engine:
        session = scoped_session(sessionmaker(engine))
        still_open = COMPLETER.complete(running, RESULT, session)
        assert still_open()
        session.commit()
        assert not still_open()
        session.remove()


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_of_async_sqlalchemy(postgres_dsn, running, driver):  # noqa: F811 - same
    async def complete() -> None:
        engine = async_engine_for(driver, postgres_dsn)
        async with AsyncSession(engine) as session:
            still_open = await COMPLETER.complete_async(running, RESULT, session)
            assert still_open()
            await session.commit()
            assert not still_open()
        await engine.dispose()

    asyncio.run(complete())


def test_of_django(postgres_dsn, running):  # noqa: F811 - same
    with django_database(postgres_dsn):
        with transaction.atomic():
            still_open = COMPLETER.complete(running, RESULT, db.connection)
            assert still_open()
        assert not still_open()
