"""Real PostgreSQL for tests: one server per run, a fresh migrated database per test."""

import asyncio
import os
import shutil
import tempfile
from collections import deque
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


CHOOSES_STRATEGY = 150_000
"""The version since which copying files, as before, has to be asked for."""

FORSAKEN = 8
"""Databases that are left alone for a while: one whose sessions have ended long since goes at once,
for one whose last session is about to end PostgreSQL sleeps a tenth of a second."""

_numbers = count()


class Server:
    """A PostgreSQL that makes databases."""

    def __init__(self, name: str, admin_dsn: str) -> None:
        self.name = name
        self._admin = psycopg.connect(admin_dsn, autocommit=True)
        self._admin_dsn = admin_dsn
        self._forsaken: deque[str] = deque()
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
            self._forsaken.append(name)
            self._drop_all_but(FORSAKEN)

    def close(self) -> None:
        self._drop_all_but(0)
        self._run("DROP DATABASE {} WITH (FORCE)", TEMPLATE)
        self._admin.close()

    def _drop_all_but(self, latest: int) -> None:
        while len(self._forsaken) > latest:
            self._run("DROP DATABASE {} WITH (FORCE)", self._forsaken.popleft())

    def _make(self, name: str, template: str) -> None:
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._run(f"CREATE DATABASE {{}} TEMPLATE {{}} {self._strategy}", name, template)

    @property
    def _strategy(self) -> str:
        chosen = self._admin.info.server_version >= CHOOSES_STRATEGY
        return "STRATEGY FILE_COPY" if chosen else ""

    def _run(self, statement: str, *names: str) -> None:
        self._admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


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
        for server in self._running.values():
            server.close()
        for server in self._embedded:
            server.release()

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


@contextmanager
def open_folder() -> Generator[Path]:
    """One that the account of a server can reach too, unlike `tmp_path`, and in memory."""
    folder = Path(tempfile.mkdtemp(prefix="horsies-test-", dir=_fastest_place()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _fastest_place() -> str:
    """Memory, where there is enough of it and programs may be run from it."""
    memory = "/dev/shm"
    if Path(memory).is_dir():
        found = os.statvfs(memory)
        if found.f_bavail * found.f_frsize > 2**30 and not found.f_flag & os.ST_NOEXEC:
            return memory
    return "/tmp"


@pytest.fixture(scope="session")
def servers() -> Generator[Servers]:
    with open_folder() as folder:
        servers = Servers(folder)
        yield servers
        servers.stop()


@pytest.fixture
def postgres_dsn(servers: Servers) -> Generator[str]:
    with servers.get().database() as dsn:
        yield dsn


@pytest.fixture
def reachable_project() -> Generator[Path]:
    """For a server of a law's own; in `tmp_path` its data would be put under /var/lib."""
    with open_folder() as folder:
        yield folder
