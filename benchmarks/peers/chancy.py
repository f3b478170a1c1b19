"""Chancy: a process pool, polled eagerly; its async executor for async tasks."""

import logging
from typing import Any

import uvloop
from benchmarks.peers import work
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records, seconds
from chancy import Chancy, Job, Queue, Worker

CHUNK = 5_000
ASYNC_CONCURRENCY = 500
QUEUES = {"noop_async": "loop"}


class ChancyPeer:
    workers = 1
    settings = (
        "process executor of as many processes as asked for, a child lives for 100_000 tasks, eager"
        f" polling, uvloop, log level WARNING; async tasks on its async executor, concurrency"
        f" {ASYNC_CONCURRENCY}; it stores no results; its ends are written once a second, and are"
        " polled for every ms"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def prepare(self) -> None:
        await self.open()
        await self._chancy.migrate()
        await self._chancy.declare(
            Queue(
                "processes",
                concurrency=self._setup.processes,
                executor=str(Chancy.Executor.Process),
                executor_options={"maximum_jobs_per_worker": 100_000},
                polling_interval=1,
                eager_polling=True,
            )
        )
        await self._chancy.declare(
            Queue(
                "loop",
                concurrency=ASYNC_CONCURRENCY,
                executor=str(Chancy.Executor.Async),
                polling_interval=1,
                eager_polling=True,
            )
        )
        await self.close()

    async def open(self) -> None:
        log = logging.getLogger("chancy")
        log.setLevel(logging.WARNING)
        self._chancy = Chancy(self._setup.dsn, log=log)
        await self._chancy.__aenter__()

    async def close(self) -> None:
        await self._chancy.__aexit__(None, None, None)

    async def fill(self, task: str, count: int) -> None:
        jobs = [_job(task, number) for number in range(count)]
        async for _ in self._chancy.push_many(jobs, batch_size=CHUNK):
            pass

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        return await self._chancy.push(_job(task, number, **path))

    async def ended(self, sent: Any) -> None:
        waiting: Any = self._chancy.wait_for_job
        await waiting(sent, interval=0.001)

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        uvloop.run(self._work())

    async def _work(self) -> None:
        await self.open()
        async with Worker(self._chancy) as worker:
            await worker.wait_for_shutdown()
        await self.close()

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="""
                SELECT 1 FROM chancy_jobs WHERE state IN ('pending', 'running', 'retrying') LIMIT 1
                """,
                span=f"""
                SELECT count(*), {seconds("min(started_at)")}, {seconds("max(completed_at)")}
                FROM chancy_jobs WHERE state = 'succeeded'
                """,  # noqa: S608 - constants of ours
            )
        return self._kept


def _job(task: str, number: int, **more: str) -> Job:
    job = Job.from_func(getattr(work, task), kwargs={"number": number, **work.PAYLOAD, **more})
    return job.with_queue(QUEUES.get(task, "processes"))


def make(setup: Setup) -> ChancyPeer:
    return ChancyPeer(setup)
