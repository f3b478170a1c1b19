"""Sends inside a transaction of SQLAlchemy in async code; the library runs the sync way for us."""

from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session

from horsies.adapters.postgres.foreign import unknown_to_async
from horsies.adapters.postgres.scripts import Script
from horsies.adapters.postgres.sqlalchemy_caller import (
    run_on_connection,
    run_on_session,
    told_plainly,
)

T = TypeVar("T")


async def run_on_async_sqlalchemy(connection: object, script: Script[T]) -> T:
    with told_plainly(connection):
        match connection:
            case AsyncConnection():
                return await connection.run_sync(run_on_connection, script)
            case AsyncSession():
                return await connection.run_sync(run_on_session, script)
            case async_scoped_session():
                return await connection().run_sync(run_on_session, script)
            case _:
                raise unknown_to_async(connection)
