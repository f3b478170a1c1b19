"""Real workers on a database of their own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests.integration.worker import jobs
from tests.postgres import Servers

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 30.0


def until(true: Callable[[], object], what: str) -> None:
    """Somebody else's process brings it about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.01)


@dataclass
class RunningWorker:
    process: subprocess.Popen[str]
    lines: list[dict[str, object]] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.raw.append(line)
            with suppress(ValueError):
                self.lines.append(json.loads(line))

    def has_said(self, words: str) -> bool:
        return any(words in line for line in self.raw)

    @property
    def pid(self) -> int:
        return self.process.pid

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """In good order; gives the exit code."""
        self.terminate()
        return self.ended()

    def ended(self) -> int:
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail("the worker does not end:\n" + "".join(self.raw))


@pytest.fixture
def database(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    with servers.get("embedded").database() as dsn:
        monkeypatch.setenv("HORSIES_DATABASE_URL", dsn)
        yield dsn
        jobs.app.close()


@pytest.fixture
def witness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where runs leave their lines, outside of PostgreSQL."""
    file = tmp_path / "witness"
    file.touch()
    monkeypatch.setenv("WITNESS", str(file))
    return file


@pytest.fixture
def start(database: str, witness: Path) -> Generator[Callable[..., RunningWorker]]:
    """Start a worker and wait until it serves."""
    workers: list[RunningWorker] = []

    def start(*options: str, ready: bool = True) -> RunningWorker:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "horsies", "worker", "tests.integration.worker.jobs:app"),
                *("--log-format", "json", "--loglevel", "DEBUG", *options),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "WITNESS": str(witness)},
        )
        worker = RunningWorker(process)
        threading.Thread(target=worker.read, daemon=True).start()
        workers.append(worker)
        if ready:
            until(lambda: worker.has_said("ready for tasks") or process.poll() is not None, "ready")
            assert process.poll() is None, "".join(worker.raw)
        return worker

    yield start
    for worker in workers:
        worker.kill()
        assert worker.process.stderr is not None


@pytest.fixture
def onlooker(database: str) -> Generator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def status(onlooker: psycopg.Connection, task_id: object) -> str:
    row = onlooker.execute(
        "SELECT status FROM horsies_tasks WHERE id = %(id)s"
        " UNION ALL SELECT status FROM horsies_task_history WHERE id = %(id)s",
        {"id": task_id},
    ).fetchone()
    assert row is not None
    return row[0]


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def children_of(pid: int) -> list[int]:
    """All that descend from it."""
    direct = [
        int(child)
        for tasks in Path(f"/proc/{pid}/task").iterdir()
        for child in (tasks / "children").read_text().split()
    ]
    return [*direct, *(each for child in direct for each in children_of(child))]
