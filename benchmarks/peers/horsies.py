"""Horsies, as a user runs it: `horsies worker`, `send`, `send_many`, `handle.get`."""

import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records, seconds
from benchmarks.peers.work import PAYLOAD

CHUNK = 5_000
PRIORITIES = (10, 50, 90)


class HorsiesPeer:
    workers = 1
    settings = (
        "defaults: fenced, RUNNING committed before a task's first line, results stored, each task"
        " in a supervised child process, every task kept in history"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def prepare(self) -> None:
        from benchmarks.tasks import app  # noqa: PLC0415 - a worker needs it not

        await app.get_broker().migrate()

    async def open(self) -> None:
        from benchmarks.tasks import app  # noqa: PLC0415 - same

        self._tasks: dict[str, Any] = {name: app_task(name) for name in NAMES}
        self._app = app

    async def close(self) -> None:
        await self._app.aclose()

    async def fill(self, task: str, count: int) -> None:
        """With several queues, round robin over queues and priorities."""
        senders = self._senders(task)
        for begin in range(0, count, CHUNK):
            numbers = range(begin, min(begin + CHUNK, count))
            for place, sender in enumerate(senders):
                share = numbers[place :: len(senders)]
                sender.send_many([{"number": number, **PAYLOAD} for number in share])

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        return self._tasks[task].send(number=number, **PAYLOAD, **path)

    async def ended(self, sent: Any) -> None:
        sent.get(timeout_ms=30_000).unwrap()

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        command = str(Path(sys.executable).with_name("horsies"))
        os.execv(  # noqa: S606 - the worker is this very process
            command,
            [
                *(command, "worker", "benchmarks.tasks:app"),
                *("--processes", str(self._setup.processes)),
                *("--log-format", "json", "--loglevel", "WARNING"),
            ],
        )

    def _senders(self, task: str) -> list[Any]:
        if not self._setup.queues:
            return [self._tasks[task]]
        return [
            self._tasks[task].with_options(queue=f"q{queue}", priority=priority)
            for priority in PRIORITIES
            for queue in range(self._setup.queues)
        ]

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="""
                (SELECT 1 FROM horsies_tasks WHERE claimable LIMIT 1) UNION ALL
                (SELECT 1 FROM horsies_tasks WHERE worker_id IS NOT NULL LIMIT 1)
                """,
                span=f"""
                SELECT count(*), {seconds("min(started_at)")}, {seconds("max(finished_at)")}
                FROM horsies_task_history WHERE task_name <> 'filler'
                """,  # noqa: S608 - constants of ours
            )
        return self._kept


NAMES = ("noop", "noop_async", "ten_ms", "witness")


def app_task(name: str) -> Any:
    from benchmarks import tasks  # noqa: PLC0415 - same

    return getattr(tasks, name)


def make(setup: Setup) -> HorsiesPeer:
    return HorsiesPeer(setup)
