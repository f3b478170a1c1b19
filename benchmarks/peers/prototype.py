"""The prototype of the worker's tick, if one is given: no more than its schema, fill and worker."""

import os
import sys
from pathlib import Path
from typing import Any

import psycopg
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records, seconds


class Prototype:
    workers = 1
    settings = (
        "two tick connections, run-ahead by predicted time up to 1,024 tasks, completion NOTIFY"
        " off; no retries, time limits, heartbeats, telemetry, or checks of any kind"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._script = Path(setup.prototype)
        os.environ["DSN"] = setup.dsn
        sys.path.insert(0, str(self._script.parent))

    async def prepare(self) -> None:
        import durable_tick  # noqa: PLC0415 - found where the setup says
        import durable_tick_schema  # noqa: PLC0415 - same

        with psycopg.connect(self._setup.dsn, autocommit=True) as connection:
            for statement in (durable_tick_schema.schema(), durable_tick.TRIGGER):
                connection.execute(statement)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def fill(self, task: str, count: int) -> None:
        assert task == "noop"
        import durable_tick_schema  # noqa: PLC0415 - same

        durable_tick_schema.DSN = self._setup.dsn
        durable_tick_schema.load(count, vacuum=False)

    async def send(self, task: str, number: int) -> Any:
        raise NotImplementedError

    async def ended(self, sent: Any) -> None:
        raise NotImplementedError

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        os.execv(  # noqa: S606 - the worker is this very process
            sys.executable,
            [
                *(sys.executable, str(self._script), "--serve", "--notify", "0"),
                *("--ahead", "1024", "--kids", str(self._setup.processes)),
            ],
        )

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="SELECT 1 FROM horsies_tasks LIMIT 1",
                span=f"""
                SELECT count(*), {seconds("min(started_at)")}, {seconds("max(finished_at)")}
                FROM horsies_task_history
                """,  # noqa: S608 - constants of ours
            )
        return self._kept


def make(setup: Setup) -> Prototype:
    return Prototype(setup)
