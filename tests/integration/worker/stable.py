"""Short words for laws with workers of the registry's app: starting, sending, looking."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from horsies.entrypoints.cli.main import main
from tests.integration.worker.processes import until
from tests.integration.worker.scene import RunningWorker, Scene, happens


def horsies(*arguments: str) -> Result:
    """A command, on the database of the environment."""
    return CliRunner().invoke(main, arguments)


def waits_until_said(worker: RunningWorker, words: str) -> None:
    until(lambda: words in worker.words, f"it says {words!r}")


@dataclass
class Stable:
    """The workers of one law, and the database they share."""

    scene: Scene

    def start(self, *options: str, name: str = "mule", **settings: int) -> RunningWorker:
        worker = self.scene.start("--name", name, *options, app="registry_jobs", **settings)
        waits_until_said(worker, "ready for tasks")
        return worker

    def send(self, name: str, **arguments: object) -> Any:
        query = "SELECT horsies_send(%s, %s, queue => 'open') AS id"
        return self.value(query, name, json.dumps(arguments))

    def send_block(self, name: str = "block") -> tuple[Any, int]:
        """A task that runs until `unblock`, and the process in which it runs."""
        pid_file = Path(self.scene.file(f"pid-{len(list(self.scene.folder.iterdir()))}"))
        where = {} if name == "hang" else {"until": self.scene.file("go")}
        task_id = self.send(name, pid_file=str(pid_file), **where)
        until(pid_file.exists, f"{name} runs")
        return task_id, int(pid_file.read_text())

    def unblock(self) -> None:
        happens(self.scene.file("go"))

    def status(self, task_id: object) -> str:
        return self.value(
            "SELECT status FROM horsies_tasks WHERE id = %s"
            " UNION ALL SELECT status FROM horsies_task_history WHERE id = %s",
            task_id,
            task_id,
        )

    def wait_for(self, status: str, task_id: object) -> None:
        until(lambda: self.status(task_id) == status, f"it is {status}")

    def state(self, name: str = "mule") -> str:
        """Of the worker that started last under this name."""
        return self.value(
            "SELECT state FROM horsies_workers WHERE name = %s ORDER BY started_at DESC LIMIT 1",
            name,
        )

    def wait_for_state(self, state: str, name: str = "mule") -> None:
        until(lambda: self.state(name) == state, f"{name} is {state}")

    def value(self, query: str, *values: object) -> Any:
        (row,) = self.scene.rows(query, *values)
        (value,) = row.values()
        return value
