"""PgQueuer: one asyncio process on uvloop, one asyncpg connection, batches of the given size."""

import asyncio
import json
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from benchmarks.peers import work
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records, seconds
from pgqueuer import PgQueuer
from pgqueuer.core.completion import CompletionWatcher
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

CHUNK = 5_000


class PgQueuerPeer:
    workers = 1
    settings = (
        "asyncpg, uvloop, durable tables, autovacuum as `pgq optimize-autovacuum` sets it, tasks as"
        " coroutines on the worker's loop: no isolation, no results; the end that is waited for is"
        " CompletionWatcher's, with a debounce of 1 ms"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def prepare(self) -> None:
        await self.open()
        await self._queries.install()
        await self._queries.optimize_autovacuum()
        await self.close()

    async def open(self) -> None:
        self._connection = await asyncpg.connect(self._setup.dsn)
        self._queries = Queries(AsyncpgDriver(self._connection))
        self._watcher: CompletionWatcher | None = None

    async def close(self) -> None:
        if self._watcher is not None:
            await self._watcher.__aexit__(None, None, None)
            await self._listening.close()
        await self._connection.close()

    async def fill(self, task: str, count: int) -> None:
        for begin in range(0, count, CHUNK):
            numbers = range(begin, min(begin + CHUNK, count))
            payloads: list[bytes | None] = [_payload(number) for number in numbers]
            size = len(payloads)
            await self._queries.enqueue([task] * size, payloads, [0] * size)

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        (job_id,) = await self._queries.enqueue(task, _payload(number, **path))
        return job_id

    async def ended(self, sent: Any) -> None:
        if self._watcher is None:
            self._listening = await asyncpg.connect(self._setup.dsn)
            driver = AsyncpgDriver(self._listening)
            self._watcher = CompletionWatcher(
                driver,
                queries=Queries(driver),
                refresh_interval=timedelta(milliseconds=5),
                debounce=timedelta(milliseconds=1),
            )
            await self._watcher.__aenter__()
        await self._watcher.wait_for(sent)

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        uvloop.run(self._work())

    async def _work(self) -> None:
        queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(self._setup.dsn)))
        for name, task in (
            ("noop", work.noop),
            ("noop_async", work.noop),
            ("witness", work.witness),
        ):
            queuer.entrypoint(name)(_entrypoint(task))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queuer.shutdown.set)
        await queuer.run(batch_size=self._setup.batch or 10)

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="SELECT 1 FROM pgqueuer LIMIT 1",
                span=f"""
                SELECT count(*) FILTER (WHERE status = 'successful'),
                    {seconds("min(created) FILTER (WHERE status = 'picked')")},
                    {seconds("max(created) FILTER (WHERE status = 'successful')")}
                FROM pgqueuer_log
                """,  # noqa: S608 - constants of ours
            )
        return self._kept


def _payload(number: int, **more: str) -> bytes:
    return json.dumps({"number": number, **work.PAYLOAD, **more}).encode()


def _entrypoint(task: Callable[..., object]) -> Callable[[Job], Any]:
    async def entrypoint(job: Job) -> None:
        task(**json.loads(job.payload or b"{}"))

    return entrypoint


def make(setup: Setup) -> PgQueuerPeer:
    return PgQueuerPeer(setup)
