"""Celery: prefork on Redis, early acknowledgement, results in Redis."""

import json
from datetime import datetime
from typing import Any

from benchmarks.peers import work
from benchmarks.peers.contract import Setup, Span
from celery import Celery
from celery.result import AsyncResult
from redis import Redis

BROKER, RESULTS = 0, 1
READ = 5_000
SENT = "horsies-benchmark-sent"


class CeleryPeer:
    workers = 1
    settings = (
        "prefork, prefetch multiplier 128, early acknowledgement, JSON, no gossip, mingle,"
        " heartbeat, events or rate limits; Redis on a UNIX socket, persistence off: nothing is"
        " durable"
    )

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._results = Redis(unix_socket_path=setup.redis, db=RESULTS)
        self._broker = Redis(unix_socket_path=setup.redis, db=BROKER)
        self._app = _app(setup)

    async def prepare(self) -> None:
        self._results.flushall()

    async def open(self) -> None:
        self._app.connection_for_write().ensure_connection(max_retries=3)

    async def close(self) -> None:
        self._app.close()

    async def fill(self, task: str, count: int) -> None:
        with self._app.producer_pool.acquire(block=True) as producer:
            for number in range(count):
                self._tasks(task).apply_async(
                    kwargs={"number": number, **work.PAYLOAD}, producer=producer
                )
        self._broker.incrby(SENT, count)

    async def send(self, task: str, number: int) -> Any:
        path = {"path": self._setup.witness} if task == "witness" else {}
        return self._tasks(task).delay(number=number, **work.PAYLOAD, **path)

    async def ended(self, sent: AsyncResult[Any]) -> None:
        sent.get(timeout=30)

    def left(self) -> bool:
        """The broker's list is empty before the tasks that were fetched ahead have run."""
        return bool(self._broker.llen("celery")) or self._results.dbsize() < self._sent()

    def span(self) -> Span:
        """From the first result to the last: it tells of no starts."""
        keys = list(self._results.scan_iter("celery-task-meta-*", count=READ))
        done: list[float] = []
        for begin in range(0, len(keys), READ):
            done += map(_date_done, self._results.mget(keys[begin : begin + READ]))
        return Span(len(done), max(done, default=0.0) - min(done, default=0.0))

    def work(self) -> None:
        self._app.worker_main(
            [
                *("worker", "--pool", "prefork", "--concurrency", str(self._setup.processes)),
                *("--loglevel", "WARNING", "--without-gossip", "--without-mingle"),
                *("--without-heartbeat", "--prefetch-multiplier", "128"),
            ]
        )

    def _tasks(self, name: str) -> Any:
        return self._app.tasks[name]

    def _sent(self) -> int:
        return int(self._broker.get(SENT) or 0)


def _date_done(raw: bytes) -> float:
    return datetime.fromisoformat(json.loads(raw)["date_done"]).timestamp()


def _app(setup: Setup) -> Celery:
    place = f"{setup.redis}?virtual_host="
    app = Celery(
        "benchmark",
        broker=f"redis+socket://{place}{BROKER}",
        backend=f"redis+socket://{place}{RESULTS}",
    )
    app.conf.update(
        worker_disable_rate_limits=True,
        worker_send_task_events=False,
        task_acks_late=False,
        broker_connection_retry_on_startup=True,
    )
    for name in ("noop", "ten_ms", "witness"):
        app.task(name=name)(getattr(work, name))
    return app


def make(setup: Setup) -> CeleryPeer:
    return CeleryPeer(setup)
