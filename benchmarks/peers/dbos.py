"""DBOS: workflows on a queue, two processes of it."""

import signal
import threading
from typing import Any

import sqlalchemy as sa
from benchmarks.peers import work
from benchmarks.peers.contract import Setup, Span
from benchmarks.peers.records import Records
from dbos import DBOS, DBOSClient, DBOSConfig

QUEUE, VERSION = "benchmark", "1"
CONCURRENCY = 300
POLL_SECONDS = 0.02
CHUNK = 1_000


class DbosPeer:
    settings = (
        f"a process for each process asked for, worker_concurrency {CONCURRENCY}, queue polled"
        f" every {POLL_SECONDS * 1000:.0f} ms, {CONCURRENCY} threads, 20 connections; each task a"
        f" workflow without steps, with its result; filled in transactions of {CHUNK:_}; a result"
        " is polled for every ms"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.workers = setup.processes

    async def prepare(self) -> None:
        self._launch()
        await DBOS.register_queue_async(
            QUEUE, worker_concurrency=CONCURRENCY, polling_interval_sec=POLL_SECONDS
        )
        DBOS.destroy()

    async def open(self) -> None:
        self._client = DBOSClient(system_database_url=self._url, application_name="benchmark")

    async def close(self) -> None:
        self._client.destroy()

    async def fill(self, task: str, count: int) -> None:
        engine = sa.create_engine(self._url)
        for begin in range(0, count, CHUNK):
            with engine.begin() as connection:
                for number in range(begin, min(begin + CHUNK, count)):
                    self._client.enqueue_in_transaction(
                        connection, _options(task), number=number, **work.PAYLOAD
                    )
        engine.dispose()

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        return self._client.enqueue(_options(task), number=number, **work.PAYLOAD, **path)

    async def ended(self, sent: Any) -> None:
        sent.get_result(polling_interval_sec=0.001)

    def left(self) -> bool:
        return self._records.left()

    def span(self) -> Span:
        return self._records.span()

    def work(self) -> None:
        stopping = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stopping.set())
        for name in ("noop", "noop_async", "ten_ms", "witness"):
            DBOS.workflow(name=name)(getattr(work, name))
        self._launch()
        stopping.wait()
        DBOS.destroy()

    def _launch(self) -> None:
        config: DBOSConfig = {
            "name": "benchmark",
            "system_database_url": self._url,
            "sys_db_pool_size": 20,
            "log_level": "WARNING",
            "application_version": VERSION,
            "max_executor_threads": CONCURRENCY,
        }
        DBOS(config=config)
        DBOS.launch()

    @property
    def _url(self) -> str:
        return self._setup.dsn

    @property
    def _records(self) -> Records:
        if not hasattr(self, "_kept"):
            self._kept = Records(
                self._setup,
                left="""
                SELECT 1 FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING') LIMIT 1
                """,
                span="""
                SELECT count(*), min(started_at_epoch_ms) / 1000.0, max(completed_at) / 1000.0
                FROM dbos.workflow_status WHERE status = 'SUCCESS'
                """,
            )
        return self._kept


def _options(task: str) -> Any:
    return {"workflow_name": task, "queue_name": QUEUE, "app_version": VERSION}


def make(setup: Setup) -> DbosPeer:
    return DbosPeer(setup)
