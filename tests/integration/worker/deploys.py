"""One app in two releases: the second has a task and a parameter that the first has not."""

import os

from horsies import (
    AppConfig,
    Horsies,
    RecoveryConfig,
    TaskError,
    TaskResult,
    WorkerResilienceConfig,
)

RELEASE = int(os.environ.get("RELEASE", "2"))

app = Horsies(
    AppConfig(
        claim_lease_ms=1_000,
        recovery=RecoveryConfig(
            check_interval_ms=1_000,
            unresolved_grace_ms=int(os.environ.get("UNRESOLVED_GRACE_MS", "300000")),
        ),
        resilience=WorkerResilienceConfig(notify_poll_interval_ms=1_000),
    )
)


@app.task("old")
def old() -> TaskResult[int, TaskError]:
    return TaskResult(ok=RELEASE)


if RELEASE == 1:

    @app.task("grown")
    def grown(x: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)

else:

    @app.task("grown")
    def grown(x: int, y: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)

    @app.task("newcomer")
    def newcomer() -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)
