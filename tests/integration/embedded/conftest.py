"""Projects that any account can reach, and nothing left behind of their servers."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest

from horsies.adapters.embedded import places
from horsies.adapters.embedded.server import EmbeddedServer
from tests.integration.embedded.users import User
from tests.postgres import open_folder

DURABILITY_OFF = {"fsync": "off"}


@pytest.fixture(name="open_folder")
def an_open_folder() -> Generator[Path]:
    """Unlike `tmp_path`, which only its owner can enter."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(autouse=True)
def kept_for_root(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test writes to the machine's own /var/lib."""
    place = open_folder / "var-lib-horsies"
    monkeypatch.setattr(places, "KEPT_FOR_ROOT", place)
    return place


@pytest.fixture(scope="session")
def seed() -> Generator[Path]:
    """A project whose database has been made: copying it is faster than making another."""
    with open_folder() as folder:
        with EmbeddedServer(folder):
            pass
        yield folder / ".horsies"


@pytest.fixture
def bare_project(open_folder: Path) -> Path:
    """One that has never had a server."""
    folder = open_folder / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def project(bare_project: Path, seed: Path) -> Path:
    """One that has had a server before."""
    subprocess.run(["cp", "-a", seed, bare_project], check=True)
    return bare_project


@pytest.fixture
def serve() -> Generator[Callable[..., EmbeddedServer]]:
    """Makes servers, and stops those that still run at the end."""
    made: list[EmbeddedServer] = []

    def make(project: Path, **options: object) -> EmbeddedServer:
        server = EmbeddedServer(project, **{"settings": DURABILITY_OFF, **options})
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()
        server.release()
        shutil.rmtree(server._places.sockets, ignore_errors=True)


@pytest.fixture
def server(project: Path, serve: Callable[..., EmbeddedServer]) -> EmbeddedServer:
    return serve(project)


@pytest.fixture
def use(serve: Callable[..., EmbeddedServer]) -> Generator[Callable[..., User]]:
    """Starts other processes that use the server of a project; they end before it is stopped."""
    users: list[User] = []

    def start(project: Path, preface: str = "") -> User:
        users.append(User(project, preface))
        return users[-1]

    yield start
    for user in users:
        user.kill()


@pytest.fixture
def halted() -> Generator[Callable[[int], None]]:
    """Halts processes until the test is over."""
    pids: list[int] = []

    def halt(pid: int) -> None:
        pids.append(pid)
        os.kill(pid, signal.SIGSTOP)

    yield halt
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
