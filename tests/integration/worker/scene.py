"""One database, the workers that serve it, and what their tasks have witnessed."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row

from tests.integration.worker import cap_jobs, deploys, jobs, line_jobs
from tests.integration.worker.processes import PATIENCE_SECONDS, children_of, until
from tests.proof import witness

ROOT = Path(__file__).parents[3]
PROGRAM = "from horsies.entrypoints.cli.main import main; main(prog_name='horsies')"
PATIENCE_MS = int(PATIENCE_SECONDS * 1000)
APPS = (jobs.app, deploys.app, line_jobs.app, cap_jobs.app)


@dataclass
class RunningWorker:
    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    _reading: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            self.said.extend(lines)

    @property
    def words(self) -> str:
        return "".join(self.said)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def children(self) -> list[int]:
        return children_of(self.pid)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """In good order; gives the exit code."""
        self.signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """Until it has ended by itself; gives the exit code."""
        try:
            code = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail("the worker does not end:\n" + self.words)
        self._reading.join(PATIENCE_SECONDS)
        return code

    def clean_up(self) -> None:
        self.kill()
        self._reading.join(PATIENCE_SECONDS)


class Scene:
    def __init__(self, dsn: str, folder: Path) -> None:
        self.dsn = dsn
        self.folder = folder
        self.witness_file = folder / "witness"
        self.witness_file.touch()
        self.workers: list[RunningWorker] = []

    def start(
        self,
        *options: str,
        app: str = "jobs",
        dsn: str | None = None,
        serves: bool = True,
        **variables: object,
    ) -> RunningWorker:
        """A worker, once it has been entered in the database; `variables` tell jobs.py its ways."""
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", PROGRAM, "worker", f"tests.integration.worker.{app}:app"),
                *("--loglevel", "DEBUG", *options),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "HORSIES_DATABASE_URL": dsn or self.dsn,
                witness.VARIABLE: str(self.witness_file),
                **{name: str(value) for name, value in variables.items()},
            },
        )
        worker = RunningWorker(process)
        self.workers.append(worker)
        if serves:
            until(lambda: self._is_known(worker) or process.poll() is not None, "it serves")
            assert process.poll() is None, worker.words
        return worker

    def _is_known(self, worker: RunningWorker) -> bool:
        return bool(self.rows("SELECT 1 FROM horsies_workers WHERE pid = %s", worker.pid))

    def rows(self, statement: str, *values: object) -> list[DictRow]:
        with psycopg.connect(self.dsn, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def file(self, name: str) -> str:
        """A path for an event between processes: it has come when the file exists."""
        return str(self.folder / name)

    def lines(self, word: str = "", task: str = "") -> list[witness.Line]:
        return [
            line
            for line in witness.lines_of(self.witness_file)
            if line.word == (word or line.word) and line.task == (task or line.task)
        ]

    def until_begun(self, task: str, times: int = 1) -> int:
        """Gives the process in which it runs."""
        until(lambda: len(self.lines("begin", task)) >= times, f"{task} has begun {times} times")
        return self.lines("begin", task)[-1].pid

    def clean_up(self) -> None:
        for app in APPS:
            app.close()
        for worker in self.workers:
            worker.clean_up()


@contextmanager
def scene_on(dsn: str, folder: Path) -> Generator[Scene]:
    """The apps of the tests send to it, as do their workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HORSIES_DATABASE_URL", dsn)
        scene = Scene(dsn, folder)
        yield scene
        scene.clean_up()


def happens(path: str) -> None:
    Path(path).touch()
