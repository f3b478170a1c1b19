"""Sends and completions inside a transaction of Django; loaded only for those who use it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar, cast

from asgiref.sync import sync_to_async
from django.core.exceptions import (  # pyright: ignore[reportMissingTypeStubs] - Django ships none
    ImproperlyConfigured,
    SynchronousOnlyOperation,
)
from django.db import (  # pyright: ignore[reportMissingTypeStubs] - same
    ConnectionProxy,
    Error,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)
from django.db.backends.base.base import (  # pyright: ignore[reportMissingTypeStubs] - same
    BaseDatabaseWrapper,
)

from horsies.adapters.postgres.foreign import needs_async_verb, told, unknown_to_sync, unusable
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Ask, Script, drive

T = TypeVar("T")

_connections = cast("Mapping[str, _Database]", connections)
_transaction: Any = transaction  # Django ships no types


class _Database(Protocol):
    alias: str
    vendor: str
    in_atomic_block: bool

    def cursor(self) -> AbstractContextManager[Any]: ...


def run_on_django(connection: object, script: Script[T]) -> T:
    with _told_plainly(connection):
        database = _database_of(connection)
        # One step also where each statement commits; inside a transaction it adds nothing.
        with _transaction.atomic(database.alias, savepoint=False), database.cursor() as cursor:

            def execute(ask: Ask) -> Sequence[Row]:
                cursor.execute(ask.statement, ask.values)
                return cursor.fetchall() if ask.answers else ()

            return drive(script, execute)


async def run_on_django_async(connection: object, script: Script[T]) -> T:
    """In the one thread where Django keeps the connections of async code."""
    return await sync_to_async(run_on_django, thread_sensitive=True)(connection, script)


def watch_django(connection: object) -> Callable[[], bool]:
    """Whether this very connection is inside `atomic`: other threads have others."""
    database = _database_of(connection)
    return lambda: database.in_atomic_block


async def watch_django_async(connection: object) -> Callable[[], bool]:
    return await sync_to_async(watch_django, thread_sensitive=True)(connection)


def _database_of(connection: object) -> _Database:
    """The connection of this thread: a transaction of Django is always on that one."""
    alias = connection if isinstance(connection, str) else _alias_of(connection)
    if alias not in list(_connections):
        known = ", ".join(_connections)
        raise unusable(connection, f"Django has no such database, but: {known}")
    database = _connections[alias]
    if isinstance(connection, BaseDatabaseWrapper) and database is not connection:
        raise unusable(connection, f"it is another thread's; connection={alias!r} suits any thread")
    if database.vendor != "postgresql":
        raise unusable(connection, f"it speaks to {database.vendor}, not to PostgreSQL")
    return database


def _alias_of(connection: object) -> str:
    if isinstance(connection, BaseDatabaseWrapper | ConnectionProxy):
        alias = getattr(connection, "alias", None)  # a cache's proxy has none
        if isinstance(alias, str):
            return alias
    raise unknown_to_sync(connection)


@contextmanager
def _told_plainly(connection: object) -> Generator[None]:
    try:
        yield
    except Error as error:
        if error.__cause__ is None:  # Django itself refuses
            raise unusable(connection, str(error)) from error
        lost = isinstance(error, OperationalError | InterfaceError)
        raise told(connection, error.__cause__, lost=lost) from error.__cause__
    except SynchronousOnlyOperation as error:
        raise needs_async_verb(connection) from error
    except ImproperlyConfigured as error:
        raise unusable(connection, str(error)) from error
