"""An app for the laws of the registry; what differs between them comes from the environment."""

import ctypes
import os
import time
from pathlib import Path

from horsies import (
    AppConfig,
    CustomQueueConfig,
    Horsies,
    PostgresConfig,
    QueueMode,
    RecoveryConfig,
    TaskError,
    TaskResult,
    WorkerResilienceConfig,
)


def _setting(name: str, default: int) -> int:
    return int(os.environ.get(name, default))


app = Horsies(
    AppConfig(
        broker=(
            PostgresConfig(os.environ["HORSIES_DATABASE_URL"], notify=False)
            if _setting("POLL_ONLY", 0)
            else None
        ),
        queue_mode=QueueMode.CUSTOM,
        custom_queues=[CustomQueueConfig("open"), CustomQueueConfig("shut", max_concurrency=0)],
        prefetch_buffer=_setting("PREFETCH", 0),
        claim_lease_ms=_setting("LEASE_MS", 60_000),
        recovery=RecoveryConfig(
            check_interval_ms=1_000,
            runner_heartbeat_interval_ms=1_000,
            running_stale_threshold_ms=_setting("STALE_MS", 300_000),
        ),
        resilience=WorkerResilienceConfig(
            db_retry_initial_ms=100,
            db_retry_max_ms=500,
            db_retry_max_attempts=_setting("ATTEMPTS", 0),
            notify_poll_interval_ms=1_000,
        ),
    )
)


@app.task("add", queue="open")
def add(x: int, y: int) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("block", queue="open")
def block(pid_file: str, until: str) -> TaskResult[str, TaskError]:
    """Says where it runs, and waits until there is a file."""
    _say_pid(pid_file)
    while not Path(until).exists():
        time.sleep(0.01)
    return TaskResult(ok="unblocked")


@app.task("hang", queue="open")
def hang(pid_file: str) -> TaskResult[str, TaskError]:
    """In C code that never lets another thread run."""
    _say_pid(pid_file)
    ctypes.PyDLL(None).sleep(600)
    return TaskResult(ok="never")


def _say_pid(file: str) -> None:
    half_written = Path(f"{file}.part")
    half_written.write_text(str(os.getpid()))
    half_written.rename(file)
