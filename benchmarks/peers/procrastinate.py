"""Procrastinate: two asyncio workers; sync tasks run in threads of theirs."""

import asyncio
from typing import Any

import uvloop
from benchmarks.peers import work
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records, seconds
from procrastinate import App, PsycopgConnector

CHUNK = 5_000
CONCURRENCY = 50


class ProcrastinatePeer:
    settings = (
        f"a worker process for each process asked for, concurrency {CONCURRENCY}, a pool of as many"
        " psycopg connections, uvloop, sync tasks in threads; it stores no results"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.workers = setup.processes
        self._app = App(
            connector=PsycopgConnector(conninfo=setup.dsn, min_size=1, max_size=CONCURRENCY)
        )
        for name in ("noop", "noop_async", "ten_ms", "witness"):
            self._app.task(name=name)(getattr(work, name))

    async def prepare(self) -> None:
        async with self._app.open_async():
            await self._app.schema_manager.apply_schema_async()

    async def open(self) -> None:
        await self._app.open_async()

    async def close(self) -> None:
        await self._app.close_async()

    async def fill(self, task: str, count: int) -> None:
        for begin in range(0, count, CHUNK):
            numbers = range(begin, min(begin + CHUNK, count))
            calls: list[Any] = [{"number": number, **work.PAYLOAD} for number in numbers]
            await self._app.tasks[task].batch_defer_async(*calls)

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        await self._app.tasks[task].defer_async(number=number, **work.PAYLOAD, **path)

    async def ended(self, sent: Any) -> None:
        raise NotImplementedError

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        uvloop.run(self._work())

    async def _work(self) -> None:
        async with self._app.open_async():
            worker = asyncio.create_task(self._app.run_worker_async(concurrency=CONCURRENCY))
            await worker

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing') LIMIT 1",
                span=f"""
                SELECT count(*) FILTER (WHERE type = 'succeeded'),
                    {seconds("min(at) FILTER (WHERE type = 'started')")},
                    {seconds("max(at) FILTER (WHERE type = 'succeeded')")}
                FROM procrastinate_events
                """,  # noqa: S608 - constants of ours
            )
        return self._kept


def make(setup: Setup) -> ProcrastinatePeer:
    return ProcrastinatePeer(setup)
