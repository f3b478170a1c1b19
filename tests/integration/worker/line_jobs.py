"""An app whose tasks are short, but for those that are told otherwise."""

import os
import signal
import time
from pathlib import Path

from horsies import (
    AppConfig,
    Horsies,
    RecoveryConfig,
    TaskError,
    TaskResult,
    WorkerResilienceConfig,
)
from tests.proof.witness import witnessed

app = Horsies(
    AppConfig(
        claim_lease_ms=1_000,
        recovery=RecoveryConfig(check_interval_ms=1_000),
        resilience=WorkerResilienceConfig(
            db_retry_initial_ms=100, db_retry_max_ms=500, notify_poll_interval_ms=1_000
        ),
    )
)


@app.task("short")
def short(number: int, until: str = "", *, dies: bool = False) -> TaskResult[int, TaskError]:
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    if until:
        with witnessed(f"blocked{number}"):
            while not Path(until).exists():
                time.sleep(0.01)
    return TaskResult(ok=os.getpid())
