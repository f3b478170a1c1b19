"""Real PostgreSQL for tests: one server per run, a fresh migrated database per test."""

import asyncio
import os
import shutil
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from horsies.adapters.embedded.binaries import system_binaries
from horsies.adapters.embedded.server import EmbeddedServer
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.migrate import PostgresSchema

TEMPLATE = "horsies_template"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

_numbers = count()


class Server:
    """A PostgreSQL that makes databases."""

    def __init__(self, name: str, admin_dsn: str) -> None:
        self.name = name
        self._admin_dsn = admin_dsn
        self._make(TEMPLATE, "template1")
        migrate(self.dsn_of(TEMPLATE))

    def dsn_of(self, database: str) -> str:
        return make_conninfo("", **{**conninfo_to_dict(self._admin_dsn), "dbname": database})

    @contextmanager
    def database(self, template: str = TEMPLATE) -> Generator[str]:
        """The DSN of a database that is gone afterwards."""
        name = f"horsies_test_{os.getpid()}_{next(_numbers)}"
        self._make(name, template)
        try:
            yield self.dsn_of(name)
        finally:
            self._run("DROP DATABASE {} WITH (FORCE)", name)

    def _make(self, name: str, template: str) -> None:
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._run("CREATE DATABASE {} TEMPLATE {}", name, template)

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(self._admin_dsn, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def migrate(dsn: str, **options: object) -> None:
    """On a thread of its own: a test may be running a loop on this one."""
    schema = PostgresSchema(link_to(dsn, **options))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(schema.migrate())).result()


def link_to(dsn: str, **options: object) -> Link:
    return Link(**{"dsn": dsn, "listen_dsn": dsn, "pool_min_size": 0} | options)


def kinds() -> list[str]:
    """The servers of this run: always ours, the system's where there is one, and a given one."""
    found = ["embedded"]
    if system_binaries():
        found.append("system")
    if os.environ.get("HORSIES_TEST_DSN"):
        found.append("given")
    return found


class Servers:
    """Started when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, Server] = {}
        self._embedded: list[EmbeddedServer] = []

    def get(self, kind: str = "embedded") -> Server:
        if kind not in self._running:
            self._running[kind] = Server(kind, self._start(kind))
        return self._running[kind]

    def stop(self) -> None:
        for server in self._embedded:
            data = server.status().data
            server.release()
            shutil.rmtree(data)

    def _start(self, kind: str) -> str:
        if kind == "given":
            return os.environ["HORSIES_TEST_DSN"]
        binaries = system_binaries()[0] if kind == "system" else None
        project = self._folder / kind
        project.mkdir()
        server = EmbeddedServer(project, binaries=binaries, settings=FAST)
        self._embedded.append(server)
        server.acquire()
        return server.dsn_of("postgres")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Servers]:
    servers = Servers(tmp_path_factory.mktemp("postgres"))
    yield servers
    servers.stop()


@pytest.fixture
def postgres_dsn(servers: Servers) -> Generator[str]:
    with servers.get().database() as dsn:
        yield dsn
