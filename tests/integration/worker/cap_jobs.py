"""An app with a queue for one task at a time. Its polls are so rare that nobody waits for one."""

from horsies import (
    AppConfig,
    CustomQueueConfig,
    Horsies,
    QueueMode,
    TaskError,
    TaskResult,
    WorkerResilienceConfig,
)

app = Horsies(
    AppConfig(
        queue_mode=QueueMode.CUSTOM,
        custom_queues=[CustomQueueConfig("narrow", max_concurrency=1)],
        resilience=WorkerResilienceConfig(notify_poll_interval_ms=300_000),
    )
)


@app.task("capped", queue="narrow")
def capped() -> TaskResult[str, TaskError]:
    return TaskResult(ok="done")
