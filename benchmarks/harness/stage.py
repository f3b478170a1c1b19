"""Where the play happens: a durable PostgreSQL, a Redis, and a directory, all gone afterwards."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from horsies.adapters.embedded.server import EmbeddedServer

SERVER_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "8GB",  # no run is cut in two by a checkpoint
    "checkpoint_timeout": "30min",
    "max_connections": "200",
}
REDIS_SETTINGS = ("--save", "", "--appendonly", "no", "--port", "0")
START_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Stage:
    server: EmbeddedServer
    folder: Path
    redis: Path | None

    def database(self, name: str, settings: Mapping[str, str]) -> str:
        """A fresh one; whatever had the name is gone."""
        with self.onlooker("postgres") as connection:
            place = Identifier(name)
            connection.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(place))
            connection.execute(SQL("CREATE DATABASE {}").format(place))
            for key, value in settings.items():
                line = SQL("ALTER DATABASE {} SET {} = {}")
                connection.execute(line.format(place, Identifier(key), Literal(value)))
        return self.server.dsn_of(name)

    def onlooker(self, database: str) -> psycopg.Connection:
        return psycopg.connect(self.server.dsn_of(database), autocommit=True)

    def told_settings(self) -> list[str]:
        """As the server says itself; a server that is not durable is refused."""
        with self.onlooker("postgres") as connection:
            told: list[str] = []
            for name in ("server_version", *SERVER_SETTINGS):
                ((value,),) = connection.execute(SQL("SHOW {}").format(Identifier(name))).fetchall()
                if name in ("fsync", "synchronous_commit", "full_page_writes"):
                    assert value == "on", f"{name} is {value}"
                told.append(f"{name} {value}")
            return told


@contextmanager
def stage(*, redis: bool) -> Generator[Stage]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="horsies-bench-")))
        folder.chmod(0o711)  # the server may run under another account
        server = stack.enter_context(EmbeddedServer(folder, settings=SERVER_SETTINGS))
        socket = stack.enter_context(_redis(folder)) if redis else None
        yield Stage(server, folder, socket)


@contextmanager
def _redis(folder: Path) -> Generator[Path | None]:
    """Its socket, or None where there is no Redis."""
    binary = shutil.which("redis-server")
    if binary is None:
        yield None
        return
    socket = folder / "redis.sock"
    process = subprocess.Popen(
        [binary, *REDIS_SETTINGS, "--unixsocket", str(socket), "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        _until_there(socket, process)
        yield socket
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _until_there(socket: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("Redis did not start")
        time.sleep(0.02)
