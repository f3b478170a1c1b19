"""What no send can use is refused in words, before anything is done."""

import subprocess
import sys

import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from horsies.application.ports.task_inbox import UnusableConnectionError
from tests.integration.callers.batches import batch_of, new_task
from tests.integration.callers.kinds import async_engine_for, send_async_on, send_on


@pytest.mark.parametrize("thing", [object(), 5, {"dsn": "secret"}, b"default", psycopg])
def test_a_thing_that_is_no_connection_is_refused_by_its_type(thing):
    with pytest.raises(UnusableConnectionError) as caught:
        send_on(thing, batch_of(new_task()))
    assert str(caught.value) == (
        f"connection= cannot use this {type(thing).__name__}: send and send_many take"
        " a psycopg Connection, an SQLAlchemy Session or Connection,"
        " or a Django connection or its alias"
    )


async def test_a_thing_that_is_no_connection_is_refused_in_async_code():
    with pytest.raises(UnusableConnectionError) as caught:
        await send_async_on(object(), batch_of(new_task()))
    assert str(caught.value) == (
        "connection= cannot use this object: send_async and send_many_async take"
        " a psycopg AsyncConnection, an SQLAlchemy AsyncSession or AsyncConnection,"
        " or a Django connection or its alias"
    )


def test_a_cursor_is_refused(postgres_dsn):
    with (
        psycopg.connect(postgres_dsn) as connection,
        pytest.raises(UnusableConnectionError, match="this psycopg Cursor: send and send_many"),
    ):
        send_on(connection.cursor(), batch_of(new_task()))


async def test_async_connections_are_refused_by_the_sync_verb(postgres_dsn):
    engine = async_engine_for("psycopg", postgres_dsn)
    async with (
        await psycopg.AsyncConnection.connect(postgres_dsn) as own,
        AsyncSession(engine) as session,
        engine.connect() as connection,
    ):
        for thing in [own, session, connection]:
            with pytest.raises(UnusableConnectionError, match="asynchronous, so use send_async"):
                send_on(thing, batch_of(new_task()))
    await engine.dispose()


async def test_sync_connections_are_refused_by_the_async_verb(postgres_dsn):
    engine = create_engine("postgresql+psycopg://")
    with pytest.raises(UnusableConnectionError, match="send_async and send_many_async take"):
        await send_async_on(engine, batch_of(new_task()))
    with psycopg.connect(postgres_dsn) as own:
        for thing in [own, Session(engine), scoped_session(sessionmaker(engine))]:
            with pytest.raises(UnusableConnectionError, match="event loop, so use send or"):
                await send_async_on(thing, batch_of(new_task()))


def test_no_optional_library_is_loaded_for_those_who_do_not_use_it():
    loaded = _python(
        "import sys, horsies.adapters.postgres.callers, horsies.adapters.postgres.task_inbox\n"
        "print({'sqlalchemy', 'django', 'asgiref', 'asyncpg', 'greenlet'} & set(sys.modules))"
    )
    assert loaded == "set()"


def test_a_text_is_no_alias_where_django_is_not_in_use():
    said = _python(
        "from horsies.adapters.postgres.callers import run_on_caller\n"
        "try: run_on_caller('secret', iter(()))\n"
        "except Exception as error: print(error)"
    )
    assert said.startswith("connection= cannot use this str: send and send_many take")


def test_a_text_is_no_alias_where_django_is_not_configured():
    said = _python(
        "import django\n"
        "from horsies.adapters.postgres.callers import run_on_caller\n"
        "try: run_on_caller('secret', iter(()))\n"
        "except Exception as error: print(error)"
    )
    assert said.startswith("connection= cannot use this str: Requested setting DATABASES")


def test_sync_sessions_need_no_greenlet():
    said = _python(
        "import sys\n"
        "sys.modules['greenlet'] = None\n"
        "from sqlalchemy.orm import Session\n"
        "from horsies.adapters.postgres.callers import run_on_caller\n"
        "try: run_on_caller(Session(), iter(()))\n"
        "except Exception as error: print(error)"
    )
    assert said.startswith(
        "connection= cannot use this sqlalchemy Session: This session is not bound"
    )


def _python(program: str) -> str:
    return subprocess.check_output([sys.executable, "-c", program], text=True).strip()
