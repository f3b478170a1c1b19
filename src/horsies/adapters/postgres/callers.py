"""Sends and completions inside the caller's own transaction.

Nothing of the caller's is committed, rolled back, closed or set differently. Nor is there a
savepoint: a send that fails takes the caller's transaction with it, since rows that are committed
without their task are what `connection=` is there to prevent; and the send that succeeds, which is
nearly every one, would pay two round trips for it.
"""

import sys
from typing import Any, TypeVar, cast

from psycopg import AsyncConnection, Connection

from horsies.adapters.postgres.foreign import (
    needs_async_verb,
    needs_sync_verb,
    unknown_to_async,
    unknown_to_sync,
)
from horsies.adapters.postgres.psycopg_caller import (
    is_in_transaction,
    run_on_async_psycopg,
    run_on_psycopg,
)
from horsies.adapters.postgres.scripts import Script
from horsies.application.ports.completer import StillOpen

T = TypeVar("T")

_SQLALCHEMY = "sqlalchemy"
_ASYNC_SQLALCHEMY = "sqlalchemy.ext.asyncio"  # needs greenlet, which sync users may not have
_DJANGO = "django"


def run_on_caller(connection: object, script: Script[T]) -> T:
    if isinstance(connection, Connection):
        return run_on_psycopg(cast("Connection[Any]", connection), script)
    if isinstance(connection, AsyncConnection) or _comes_from(_ASYNC_SQLALCHEMY, connection):
        raise needs_async_verb(cast("object", connection))
    if _comes_from(_SQLALCHEMY, connection):
        from horsies.adapters.postgres import sqlalchemy_caller  # noqa: PLC0415 - it is optional

        return sqlalchemy_caller.run_on_sqlalchemy(connection, script)
    if _is_of_django(connection):
        from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - it is optional

        return django_caller.run_on_django(connection, script)
    raise unknown_to_sync(connection)


async def run_on_async_caller(connection: object, script: Script[T]) -> T:
    if isinstance(connection, AsyncConnection):
        return await run_on_async_psycopg(cast("AsyncConnection[Any]", connection), script)
    if isinstance(connection, Connection):
        raise needs_sync_verb(cast("object", connection))
    if _comes_from(_ASYNC_SQLALCHEMY, connection):
        from horsies.adapters.postgres import async_sqlalchemy_caller  # noqa: PLC0415 - same

        return await async_sqlalchemy_caller.run_on_async_sqlalchemy(connection, script)
    if _comes_from(_SQLALCHEMY, connection):
        from horsies.adapters.postgres import sqlalchemy_caller  # noqa: PLC0415 - same

        raise sqlalchemy_caller.refusal_in_async_code(connection)
    if _is_of_django(connection):
        from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - same

        return await django_caller.run_on_django_async(connection, script)
    raise unknown_to_async(connection)


def watch_transaction(connection: object) -> StillOpen:
    """For a connection on which a script was run."""
    if isinstance(connection, Connection | AsyncConnection):
        return lambda: is_in_transaction(cast("Connection[Any] | AsyncConnection[Any]", connection))
    if _comes_from(_SQLALCHEMY, connection):
        own: Any = connection() if callable(connection) else connection  # of a scoped session
        return own.in_transaction
    from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - it is optional

    return django_caller.watch_django(connection)


async def watch_async_transaction(connection: object) -> StillOpen:
    if not _is_of_django(connection):
        return watch_transaction(connection)
    from horsies.adapters.postgres import django_caller  # noqa: PLC0415 - it is optional

    return await django_caller.watch_django_async(connection)


def _comes_from(package: str, connection: object) -> bool:
    """Whether its class, or one that it extends, is defined there; the package is then loaded."""
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(connection).__mro__)


def _is_of_django(connection: object) -> bool:
    """A text is an alias, where Django is in use at all."""
    if isinstance(connection, str):
        return _DJANGO in sys.modules
    return _comes_from(_DJANGO, connection)
