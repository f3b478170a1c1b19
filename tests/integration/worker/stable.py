"""Short words for laws with workers of the registry's app: starting, sending, looking."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from click.testing import CliRunner, Result

from horsies.entrypoints.cli.main import main
from tests.integration.worker.conftest import ROOT, RunningWorker, until

APP = "tests.integration.worker.registry_jobs:app"


def horsies(*arguments: str) -> Result:
    """A command, on the database of the environment."""
    return CliRunner().invoke(main, arguments)


@dataclass
class Stable:
    """The workers of one law, and the database they share."""

    onlooker: psycopg.Connection
    folder: Path
    workers: list[tuple[RunningWorker, threading.Thread]] = field(default_factory=list)

    def start(self, *options: str, name: str = "mule", **settings: int) -> RunningWorker:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "horsies", "worker", APP, "--name", name),
                *("--log-format", "json", "--loglevel", "DEBUG", *options),
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {key: str(value) for key, value in settings.items()},
        )
        worker = RunningWorker(process)
        reader = threading.Thread(target=worker.read, daemon=True)
        reader.start()
        self.workers.append((worker, reader))
        until(lambda: worker.has_said("ready for tasks") or process.poll() is not None, "ready")
        assert process.poll() is None, "".join(worker.raw)
        return worker

    def close(self) -> None:
        for worker, reader in self.workers:
            worker.kill()
            reader.join()
            assert worker.process.stderr is not None
            worker.process.stderr.close()

    def send(self, name: str, **arguments: object) -> Any:
        query = "SELECT horsies_send(%s, %s, queue => 'open')"
        (task_id,) = self.one(query, name, json.dumps(arguments))
        return task_id

    def send_block(self, name: str = "block") -> tuple[Any, int]:
        """A task that runs until `unblock`, and the process in which it runs."""
        pid_file = self.folder / f"{name}-{len(list(self.folder.iterdir()))}"
        where = {} if name == "hang" else {"until": str(self.folder / "go")}
        task_id = self.send(name, pid_file=str(pid_file), **where)
        until(pid_file.exists, f"{name} runs")
        return task_id, int(pid_file.read_text())

    def unblock(self) -> None:
        (self.folder / "go").touch()

    def status(self, task_id: object) -> str:
        (status,) = self.one(
            "SELECT status FROM horsies_tasks WHERE id = %(id)s"
            " UNION ALL SELECT status FROM horsies_task_history WHERE id = %(id)s",
            id=task_id,
        )
        return status

    def wait_for(self, status: str, task_id: object) -> None:
        until(lambda: self.status(task_id) == status, f"it is {status}")

    def state(self, name: str = "mule") -> str:
        """Of the worker that started last under this name."""
        (state,) = self.one(
            "SELECT state FROM horsies_workers WHERE name = %s ORDER BY started_at DESC LIMIT 1",
            name,
        )
        return state

    def wait_for_state(self, state: str, name: str = "mule") -> None:
        until(lambda: self.state(name) == state, f"{name} is {state}")

    def one(self, query: str, *values: object, **named: object) -> tuple[Any, ...]:
        row = self.onlooker.execute(query.encode(), named or values).fetchone()
        assert row is not None
        return row
