"""Bringing a schema to the present version, and saying which it has.

Migrations are numbered, go forward only, and are applied in one transaction under a lock, so that
any number of workers may migrate at the same time.
"""

from functools import cache
from importlib.resources import files

from psycopg import AsyncConnection, sql

from horsies.adapters.postgres.faults import translated
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import fill
from horsies.adapters.postgres.rows import Row
from horsies.application.ports.schema import SchemaState

OLDEST_CLIENT = 1
"""The oldest client that can work with the newest schema of this version."""

NEEDS_SCHEMA = 5
"""The oldest schema that this client can work with."""

LOCK_WAIT_SECONDS = 60


class PostgresSchema:
    def __init__(self, link: Link) -> None:
        self._link = link

    async def state(self) -> SchemaState:
        with translated():
            async with await self._connect() as connection:
                return await self._read(connection)

    async def migrate(self) -> tuple[str, ...]:
        """Apply what is missing; gives the names of what was applied."""
        with translated():
            async with await self._connect() as connection, connection.transaction():
                await self._take_turn(connection)
                state = await self._read(connection)
                missing = [name for name in migrations() if number_of(name) > state.found]
                if state.too_new or not missing:
                    return ()
                await self._make_schema(connection)
                for name in missing:
                    await self._apply(connection, name)
                return tuple(missing)

    async def _connect(self) -> AsyncConnection[Row]:
        return await AsyncConnection.connect(
            self._link.conninfo("migrator"), autocommit=True, prepare_threshold=None
        )

    async def _take_turn(self, connection: AsyncConnection[Row]) -> None:
        await connection.execute(
            "SELECT set_config('lock_timeout', %(wait)s, true),"
            " set_config('statement_timeout', '0', true),"
            " pg_advisory_xact_lock(hashtextextended(%(lock)s, 0))",
            {"wait": f"{LOCK_WAIT_SECONDS}s", "lock": self._link.lock_name("migrate")},
        )

    async def _read(self, connection: AsyncConnection[Row]) -> SchemaState:
        known = SchemaState(newest=newest(), needed=NEEDS_SCHEMA)
        table = f"{self._link.schema}.horsies_schema"
        cursor = await connection.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
        if await cursor.fetchone() != (True,):
            return known
        query = sql.SQL(
            "SELECT max(version), coalesce(max(oldest_client), 0) FROM {}.horsies_schema"
        )
        cursor = await connection.execute(query.format(sql.Identifier(self._link.schema)))
        row = await cursor.fetchone()
        assert row is not None
        return SchemaState(known.newest, known.needed, version=row[0], oldest_client=row[1])

    async def _make_schema(self, connection: AsyncConnection[Row]) -> None:
        """Only if it is not there: `IF NOT EXISTS` needs the right to make one all the same."""
        cursor = await connection.execute("SELECT to_regnamespace(%s)", [self._link.schema])
        if await cursor.fetchone() == (None,):
            name = sql.Identifier(self._link.schema)
            await connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))

    async def _apply(self, connection: AsyncConnection[Row], name: str) -> None:
        text = (files(__package__ or "") / "migrations" / name).read_text(encoding="utf-8")
        filled = fill(text, self._link.schema, new_channel=self._link.new_channel)
        await connection.execute(filled.encode())
        query = sql.SQL("INSERT INTO {}.horsies_schema (version, oldest_client) VALUES (%s, %s)")
        await connection.execute(
            query.format(sql.Identifier(self._link.schema)), [number_of(name), OLDEST_CLIENT]
        )


@cache
def migrations() -> tuple[str, ...]:
    """The names of all migrations, in order."""
    folder = files(__package__ or "") / "migrations"
    return tuple(sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql")))


def number_of(name: str) -> int:
    return int(name.partition("_")[0])


def newest() -> int:
    return number_of(migrations()[-1])
