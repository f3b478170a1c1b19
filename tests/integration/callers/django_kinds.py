"""Django's connections, as kinds of callers."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import django
from asgiref.sync import sync_to_async
from django import conf, db
from django.db import transaction
from psycopg.conninfo import conninfo_to_dict

from tests.integration.callers.kinds import COMPLETER, RESULT, Caller, send_async_on, send_on


@contextmanager
def django_database(dsn: str) -> Generator[None]:
    """`default` is this database; connections of every thread are closed afterwards."""
    if not conf.settings.configured:
        lite = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        default = {"ENGINE": "django.db.backends.postgresql"}
        conf.settings.configure(DATABASES={"default": default, "lite": lite}, USE_TZ=True)
        django.setup()
    given = conninfo_to_dict(dsn)
    db.connections.settings["default"].update(
        NAME=given["dbname"], USER=given["user"], HOST=given["host"], PORT=given["port"]
    )
    yield
    _forget_connection()
    asyncio.run(sync_to_async(_forget_connection)())


def _forget_connection() -> None:
    db.connections["default"].close()
    del db.connections["default"]


def _django_caller(connection: object) -> Caller:
    def execute(statement: str) -> None:
        with db.connection.cursor() as cursor:
            cursor.execute(statement)

    return Caller(
        lambda batch: send_on(connection, batch),
        lambda claim: COMPLETER.complete(claim, RESULT, connection),
        execute,
        transaction.commit,
        transaction.rollback,
    )


@contextmanager
def django_alias(dsn: str) -> Generator[Caller]:
    with django_database(dsn):
        transaction.set_autocommit(False)  # ended by hand
        yield _django_caller("default")


@contextmanager
def django_connection(dsn: str) -> Generator[Caller]:
    with django_database(dsn):
        transaction.set_autocommit(False)  # ended by hand
        yield _django_caller(db.connections["default"])


@contextmanager
def django_current_connection(dsn: str) -> Generator[Caller]:
    with django_database(dsn):
        transaction.set_autocommit(False)  # ended by hand
        yield _django_caller(db.connection)


@contextmanager
def django_in_async_code(dsn: str) -> Generator[Caller]:
    with django_database(dsn), asyncio.Runner() as runner:

        def there(function: Callable[..., Any], *given: Any) -> Any:
            async def run() -> Any:
                return await sync_to_async(function)(*given)

            return runner.run(run())

        there(transaction.set_autocommit, False)  # noqa: FBT003 - Django's own
        caller = _django_caller("default")
        yield Caller(
            lambda batch: runner.run(send_async_on("default", batch)),
            lambda claim: runner.run(COMPLETER.complete_async(claim, RESULT, "default")),
            lambda statement: there(caller.execute, statement),
            lambda: there(caller.commit),
            lambda: there(caller.rollback),
        )
