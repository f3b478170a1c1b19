"""Every kind of connection that a caller may hand over, behind one small face."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    AsyncSession,
    async_scoped_session,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from horsies.adapters.postgres.callers import run_on_async_caller, run_on_caller
from horsies.adapters.postgres.completer import PostgresCompleter
from horsies.adapters.postgres.faults import translated
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.sending import SendScripts
from horsies.application.ports.completer import StillOpen
from horsies.domain.sending import Batch, Receipt
from horsies.domain.task import Claim

SCRIPTS = SendScripts(Queries("public"), "x")
RESULT = b'{"ok":"100% :sure"}'


def send_on(connection: object, batch: Batch) -> list[Receipt]:
    with translated():
        return run_on_caller(connection, SCRIPTS.accept(batch, None))


async def send_async_on(connection: object, batch: Batch) -> list[Receipt]:
    with translated():
        return await run_on_async_caller(connection, SCRIPTS.accept(batch, None))


COMPLETER = PostgresCompleter(Queries("public"), "horsies_task_done")


@dataclass(frozen=True)
class Caller:
    """Somebody with a transaction of their own; async ones are driven from outside."""

    send: Callable[[Batch], list[Receipt]]
    complete: Callable[[Claim], StillOpen]
    execute: Callable[[str], object]
    commit: Callable[[], object]
    rollback: Callable[[], object]


def _sync(connection: Any, execute: Callable[[str], object]) -> Caller:
    def send(batch: Batch) -> list[Receipt]:
        return send_on(connection, batch)

    def complete(claim: Claim) -> StillOpen:
        return COMPLETER.complete(claim, RESULT, connection)

    return Caller(send, complete, execute, connection.commit, connection.rollback)


def _async(runner: asyncio.Runner, connection: Any, execute: Callable[[str], Any]) -> Caller:
    return Caller(
        lambda batch: runner.run(send_async_on(connection, batch)),
        lambda claim: runner.run(COMPLETER.complete_async(claim, RESULT, connection)),
        lambda statement: runner.run(execute(statement)),
        lambda: runner.run(connection.commit()),
        lambda: runner.run(connection.rollback()),
    )


@contextmanager
def psycopg_connection(dsn: str) -> Generator[Caller]:
    with psycopg.connect(dsn) as connection:
        yield _sync(connection, connection.execute)


@contextmanager
def psycopg_with_dicts(dsn: str) -> Generator[Caller]:
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        yield _sync(connection, connection.execute)


@contextmanager
def psycopg_async_connection(dsn: str) -> Generator[Caller]:
    with asyncio.Runner() as runner:
        connection = runner.run(psycopg.AsyncConnection.connect(dsn))
        yield _async(runner, connection, connection.execute)
        runner.run(connection.close())


@contextmanager
def engine_for(dsn: str, **options: Any) -> Generator[Engine]:
    engine = create_engine("postgresql+psycopg://", connect_args=conninfo_to_dict(dsn), **options)
    yield engine
    engine.dispose()


@contextmanager
def sqlalchemy_connection(dsn: str) -> Generator[Caller]:
    with engine_for(dsn) as engine, engine.connect() as connection:
        yield _sync(connection, lambda statement: connection.execute(text(statement)))


@contextmanager
def sqlalchemy_session(dsn: str) -> Generator[Caller]:
    with engine_for(dsn) as engine, Session(engine) as session:
        yield _sync(session, lambda statement: session.execute(text(statement)))


@contextmanager
def sqlalchemy_scoped_session(dsn: str) -> Generator[Caller]:
    with engine_for(dsn) as engine:
        session = scoped_session(sessionmaker(engine))
        yield _sync(session, lambda statement: session.execute(text(statement)))
        session.remove()


def async_engine_for(driver: str, dsn: str, **options: Any) -> AsyncEngine:
    given = conninfo_to_dict(dsn)
    if driver == "asyncpg":
        given["database"] = given.pop("dbname")
        given["port"] = int(given["port"])
    return create_async_engine(f"postgresql+{driver}://", connect_args=given, **options)


@contextmanager
def _async_sqlalchemy(driver: str, dsn: str, kind: Callable[[AsyncEngine], Any]) -> Any:
    with asyncio.Runner() as runner:
        engine = async_engine_for(driver, dsn)
        connection = kind(engine)
        if isinstance(connection, AsyncConnection):
            runner.run(_started(connection))
        yield _async(runner, connection, lambda statement: connection.execute(text(statement)))
        runner.run(connection.close())
        runner.run(engine.dispose())


async def _started(connection: AsyncConnection) -> None:
    await connection.start()


@contextmanager
def sqlalchemy_async_connection(driver: str, dsn: str) -> Generator[Caller]:
    with _async_sqlalchemy(driver, dsn, AsyncEngine.connect) as caller:
        yield caller


@contextmanager
def sqlalchemy_async_session(driver: str, dsn: str) -> Generator[Caller]:
    with _async_sqlalchemy(driver, dsn, AsyncSession) as caller:
        yield caller


@contextmanager
def sqlalchemy_async_scoped_session(driver: str, dsn: str) -> Generator[Caller]:
    def kind(engine: AsyncEngine) -> object:
        return async_scoped_session(async_sessionmaker(engine), scopefunc=lambda: 1)

    with _async_sqlalchemy(driver, dsn, kind) as caller:
        yield caller
