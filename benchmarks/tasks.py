"""The app that is measured: `horsies worker benchmarks.tasks:app`."""

import os

from benchmarks.peers import work
from benchmarks.peers.contract import VARIABLE, Setup

from horsies import (
    AppConfig,
    CustomQueueConfig,
    Horsies,
    PostgresConfig,
    QueueMode,
    TaskError,
    TaskResult,
)

SENDING_THREADS = 64


def configure(setup: Setup) -> AppConfig:
    broker = PostgresConfig(setup.dsn, notify=setup.notify, pool_max_size=SENDING_THREADS + 4)
    if not setup.queues:
        return AppConfig(broker=broker)
    queues = [CustomQueueConfig(f"q{n}", priority=n + 1) for n in range(setup.queues)]
    return AppConfig(broker=broker, queue_mode=QueueMode.CUSTOM, custom_queues=queues)


app = Horsies(configure(Setup.from_environment()) if VARIABLE in os.environ else None)
_QUEUE = "q0" if VARIABLE in os.environ and Setup.from_environment().queues else None


@app.task("noop", queue=_QUEUE)
def noop(number: int, who: str, tags: list[str]) -> TaskResult[int, TaskError]:
    return TaskResult(ok=work.noop(number, who, tags))


@app.task("noop_async", queue=_QUEUE)
async def noop_async(number: int, who: str, tags: list[str]) -> TaskResult[int, TaskError]:
    return TaskResult(ok=await work.noop_async(number, who, tags))


@app.task("ten_ms", queue=_QUEUE)
def ten_ms(number: int, who: str, tags: list[str]) -> TaskResult[int, TaskError]:
    return TaskResult(ok=work.ten_ms(number, who, tags))


@app.task("witness", queue=_QUEUE)
def witness(number: int, who: str, tags: list[str], path: str) -> TaskResult[int, TaskError]:
    return TaskResult(ok=work.witness(number, who, tags, path))
