"""A real worker for tasks that look at the run they are in, and a table of the user's own."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import psycopg
import pytest

from tests.integration.context import jobs
from tests.integration.worker.scene import PROGRAM, ROOT, RunningWorker
from tests.postgres import Servers


@pytest.fixture
def database(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    with servers.get().database() as dsn:
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
    workers: list[RunningWorker] = []

    def start(*options: str) -> RunningWorker:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", PROGRAM, "worker", "tests.integration.context.jobs:app"),
                *("--log-format", "json", *options),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "WITNESS": str(witness)},
        )
        workers.append(RunningWorker(process))
        return workers[-1]

    yield start
    for worker in workers:
        worker.clean_up()


@pytest.fixture(params=["0", "1"], ids=["in the worker", "in a child"])
def worker(request: pytest.FixtureRequest, start: Callable[..., RunningWorker]) -> RunningWorker:
    return start("--processes", request.param)


@pytest.fixture
def child_worker(start: Callable[..., RunningWorker]) -> RunningWorker:
    return start("--processes", "1")


@pytest.fixture
def orders(database: str) -> Generator[Callable[[], list[str]]]:
    """The names in a table of the user's own."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (name text)")

        def names() -> list[str]:
            return [name for (name,) in connection.execute("SELECT name FROM orders").fetchall()]

        yield names
