"""Sends inside a transaction of SQLAlchemy, whatever its driver; loaded only for those who use it.

Nothing is flushed, and nothing is begun that the library would not begin by itself: the first
statement opens a transaction that the caller commits.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar, cast

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import DBAPIError, InvalidRequestError, MissingGreenlet
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, scoped_session

from horsies.adapters.postgres.foreign import (
    needs_async_verb,
    needs_sync_verb,
    told,
    unknown_to_async,
    unknown_to_sync,
    unusable,
)
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Ask, Script, drive
from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import BrokerError, BrokerFault

T = TypeVar("T")

_PLACE_OR_SIGN = re.compile(r"%\((?P<name>\w+)\)s|%%|(?<![:\w]):(?=\w)")


def run_on_sqlalchemy(connection: object, script: Script[T]) -> T:
    with told_plainly(connection):
        match connection:
            case Connection():
                return run_on_connection(connection, script)
            case Session():
                return run_on_session(connection, script)
            case scoped_session():
                return run_on_session(connection(), script)
            case _:
                raise unknown_to_sync(connection)


def refusal_in_async_code(connection: object) -> UnusableConnectionError:
    if isinstance(connection, Connection | Session | scoped_session):
        return needs_sync_verb(cast("object", connection))
    return unknown_to_async(connection)


def run_on_session(session: Session, script: Script[T]) -> T:
    _expect_postgres(session, session.get_bind().dialect.name)
    return run_on_connection(session.connection(), script)


def run_on_connection(connection: Connection, script: Script[T]) -> T:
    _expect_postgres(connection, connection.dialect.name)
    if getattr(connection.connection.dbapi_connection, "autocommit", False):
        raise unusable(connection, "in AUTOCOMMIT it has no transaction that a send could be in")

    def execute(ask: Ask) -> Sequence[Row]:
        result = connection.execute(_clause(ask.statement), ask.values)
        return [tuple(row) for row in result] if ask.answers else ()

    return drive(script, execute)


def _expect_postgres(connection: object, dialect: str) -> None:
    if dialect != "postgresql":
        raise unusable(connection, f"it speaks to {dialect}, not to PostgreSQL")


@lru_cache(maxsize=128)
def _clause(statement: str) -> TextClause:
    """`%(name)s` becomes `(:name)`: without parentheses a cast that follows would hide it."""

    def rewritten(found: re.Match[str]) -> str:
        name = found["name"]
        if name is not None:
            return f"(:{name})"
        return "%" if found[0] == "%%" else r"\:"

    return text(_PLACE_OR_SIGN.sub(rewritten, statement))


@contextmanager
def told_plainly(connection: object) -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        driver = error.orig or error
        # From the driver's error: the library's own quotes the values, which are the user's data.
        raise told(connection, driver, lost=error.connection_invalidated) from driver
    except MissingGreenlet as error:
        raise needs_async_verb(connection) from error
    except InvalidRequestError as error:
        raise unusable(connection, str(error).splitlines()[0]) from error
    except PoolTimeoutError as error:
        raise BrokerError("no connection came free in time", fault=BrokerFault.BUSY) from error
    except OSError as error:
        raise BrokerError(
            f"the database cannot be reached ({error})", fault=BrokerFault.CONNECTION
        ) from error
