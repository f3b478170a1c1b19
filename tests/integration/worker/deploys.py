"""One app in two releases: the second has another task, and another type of parameter."""

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

    @app.task("changed")
    def changed(x: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)

else:

    @app.task("changed")
    def changed(x: str) -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)

    @app.task("newcomer")
    def newcomer() -> TaskResult[int, TaskError]:
        return TaskResult(ok=RELEASE)
