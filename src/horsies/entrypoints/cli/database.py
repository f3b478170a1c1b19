"""`horsies db`: the tables, and the embedded server."""

import os
import subprocess
import sys
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from horsies.domain.errors import BrokerError, FaultsError

if TYPE_CHECKING:
    from horsies.adapters.embedded.server import EmbeddedServer
    from horsies.application.settings.app import AppConfig
    from horsies.application.settings.postgres import PostgresConfig

T = TypeVar("T")


def _no_dsn(_: click.Context, __: click.Parameter, app: str | None) -> str | None:
    if app is not None and ("://" in app or "=" in app):
        raise click.UsageError(
            "a DSN is not taken from the command line, which others can read:"
            " set HORSIES_DATABASE_URL, or name an app as MODULE:APP"
        )
    return app


_APP = click.argument("app", metavar="[MODULE:APP]", required=False, callback=_no_dsn)


@click.group()
def db() -> None:
    """Look after the tables and the embedded PostgreSQL.

    The database is the app's, if one is named, else that of HORSIES_DATABASE_URL or DATABASE_URL,
    else the embedded server of this directory.
    """


@db.command()
@_APP
def migrate(app: str | None) -> None:
    """Bring the tables to the present version.

    \b
    Example:
      HORSIES_DATABASE_URL=postgresql://... horsies db migrate
    """
    from horsies.adapters.postgres.migrate import PostgresSchema  # noqa: PLC0415 - `--help` is lean
    from horsies.entrypoints.online import link_of  # noqa: PLC0415 - same

    with _explained(), _reached(*_settings(app)) as (config, broker, dsn):
        schema = PostgresSchema(link_of(config, broker, dsn))
        applied = _run(schema.migrate())
        for name in applied:
            click.echo(f"applied {name}")
        state = _run(schema.state())
        if state.problem is not None:
            raise BrokerError(state.problem)
        click.echo(f"the tables have version {state.version}, schema {broker.schema}")


@db.command()
@_APP
def status(app: str | None) -> None:
    """Say where the database is, whether it runs, and which version the tables have.

    \b
    Example:
      horsies db status
    """
    from horsies.adapters.postgres.migrate import PostgresSchema  # noqa: PLC0415 - `--help` is lean
    from horsies.entrypoints.online import link_of  # noqa: PLC0415 - same

    with _explained():
        config, broker = _settings(app)
        server = _embedded(broker)
        click.echo(f"database  {broker.database_url if server is None else 'embedded'}")
        if server is not None and not _show_server(server):
            return
        dsn = broker.dsn if server is None else server.dsn
        state = _run(PostgresSchema(link_of(config, broker, dsn)).state())
        found = "none" if state.version is None else f"version {state.version}"
        click.echo(f"tables    {found}, this Horsies has version {state.newest}")
        if state.problem is not None:
            raise BrokerError(state.problem)


@db.command()
def start() -> None:
    """Start the embedded PostgreSQL of this directory; it runs until `horsies db stop`.

    \b
    Example:
      horsies db start
    """
    from horsies.entrypoints.config import VARIABLES  # noqa: PLC0415 - `--help` is lean

    with _explained():
        server = _here()
        server.start()
        click.echo(f"running until `horsies db stop`, at {server.dsn}")
        for variable in VARIABLES:
            if os.environ.get(variable):
                click.echo(f"note: {variable} is set, so apps here use that database instead")


@db.command()
def stop() -> None:
    """Stop the embedded PostgreSQL of this directory, whoever uses it. The data stay.

    \b
    Example:
      horsies db stop
    """
    with _explained():
        click.echo("stopped" if _here().stop() else "it was not running")


@db.command()
@_APP
def shell(app: str | None) -> None:
    """Open psql on the database.

    \b
    Example:
      horsies db shell
    """
    with _explained(), _reached(*_settings(app)) as (_, broker, dsn):
        server = _embedded(broker)
        psql = "psql" if server is None else str(server.binaries / "psql")
        try:  # the DSN goes by the environment: a command line can be read by everyone
            done = subprocess.run([psql], env=os.environ | _libpq(dsn), check=False)  # noqa: S603 - psql itself
        except FileNotFoundError:
            raise BrokerError("psql is not installed: install PostgreSQL's client") from None
        sys.exit(done.returncode)


def _settings(locator: str | None) -> "tuple[AppConfig, PostgresConfig]":
    from horsies.entrypoints.config import resolve_broker, resolve_config  # noqa: PLC0415 - lean

    if locator is None:
        config = resolve_config(None)
    else:
        from horsies.entrypoints.locator import load_app  # noqa: PLC0415 - lean

        config = load_app(locator).config
    return config, resolve_broker(config)


@contextmanager
def _reached(
    config: "AppConfig", broker: "PostgresConfig"
) -> "Generator[tuple[AppConfig, PostgresConfig, str]]":
    """With an embedded server running for as long as it takes."""
    server = _embedded(broker)
    if server is None:
        yield config, broker, broker.dsn
        return
    with server:
        yield config, broker, server.dsn


def _embedded(broker: "PostgresConfig") -> "EmbeddedServer | None":
    from horsies.adapters.embedded.server import EmbeddedServer  # noqa: PLC0415 - lean
    from horsies.entrypoints.config import embedded_project  # noqa: PLC0415 - lean

    project = embedded_project(broker)
    return None if project is None else EmbeddedServer(project)


def _here() -> "EmbeddedServer":
    from horsies.adapters.embedded.server import EmbeddedServer  # noqa: PLC0415 - lean

    return EmbeddedServer(Path.cwd())


def _show_server(server: "EmbeddedServer") -> bool:
    found = server.status()
    state = f"running, pid {found.pid}" if found.running else "not running"
    pinned = ", until `horsies db stop`" if found.pinned and found.running else ""
    click.echo(f"server    {state}{pinned}")
    click.echo(f"data      {found.data}")
    click.echo(f"log       {found.log}")
    if found.running:
        click.echo(f"version   PostgreSQL {found.version}")
    return found.running


def _libpq(dsn: str) -> dict[str, str]:
    """What libpq reads from the environment, for everything that a DSN can say of it."""
    from psycopg import pq  # noqa: PLC0415 - lean
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - lean

    given = conninfo_to_dict(dsn)
    return {
        option.envvar.decode(): str(given[option.keyword.decode()])
        for option in pq.Conninfo.get_defaults()
        if option.envvar and option.keyword.decode() in given
    }


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except FaultsError as error:
        click.echo(error.report(), err=True)
        sys.exit(1)
    except BrokerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    import asyncio  # noqa: PLC0415 - lean

    return asyncio.run(coroutine)
