"""Projects that any account can reach, and nothing left behind of their servers."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from horsies.adapters.embedded import places
from horsies.adapters.embedded.server import EmbeddedServer
from tests.integration.embedded.users import User

DURABILITY_OFF = {"fsync": "off"}


@pytest.fixture
def open_folder() -> Generator[Path]:
    """Unlike `tmp_path`, which only its owner can enter."""
    folder = Path(tempfile.mkdtemp(prefix="horsies-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def kept_for_root(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test writes to the machine's own /var/lib."""
    place = open_folder / "var-lib-horsies"
    monkeypatch.setattr(places, "KEPT_FOR_ROOT", place)
    return place


@pytest.fixture
def project(open_folder: Path) -> Path:
    folder = open_folder / "project"
    folder.mkdir()
    return folder


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


@pytest.fixture
def server(project: Path, serve: Callable[..., EmbeddedServer]) -> EmbeddedServer:
    return serve(project)


@pytest.fixture
def use(server: EmbeddedServer) -> Generator[Callable[..., User]]:
    """Starts other processes that use the server of the project."""
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


@pytest.fixture
def ask() -> Callable[[str, str], object]:
    def run(dsn: str, statement: str) -> object:
        with psycopg.connect(dsn) as connection:
            answer = connection.execute(statement)
            return answer.fetchone()[0] if answer.description else None

    return run
