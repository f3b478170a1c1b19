"""Real tasks in real processes: sync and async ones, one that takes too long, one that crashes.

Elsewhere a worker is started by `horsies worker examples/02_worker.py:app`.
"""

import asyncio
import os
import time

from horsies import Horsies, TaskError, TaskResult, current_task, gather

app = Horsies("embedded:")


@app.task("resize")
def resize(image: str, width: int) -> TaskResult[str, TaskError]:
    """A sync task has a process to itself while it runs."""
    return TaskResult(ok=f"{image} at {width} px")


@app.task("fetch")
async def fetch(url: str) -> TaskResult[int, TaskError]:
    """Of async tasks a process runs many at a time."""
    await asyncio.sleep(0.2)
    return TaskResult(ok=len(url))


@app.task("stuck", timeout_ms=300)
def stuck() -> TaskResult[str, TaskError]:
    """It is interrupted at its timeout; one that does not listen is killed."""
    time.sleep(3600)
    return TaskResult(ok="never")


@app.task("crash")
def crash() -> TaskResult[str, TaskError]:
    """Its process dies, and nothing else does."""
    os._exit(3)


@app.task("flaky", idempotent=True)
def flaky() -> TaskResult[str, TaskError]:
    """It says that it is safe to run again, so a crash is retried."""
    if current_task().attempt == 1:
        os._exit(3)
    return TaskResult(ok=f"attempt {current_task().attempt} went well")


def main() -> None:
    with app, app.running_worker("--processes", "2", "--loglevel", "CRITICAL"):
        print(resize.send("cat.png", width=200).get().unwrap())

        pages = gather([fetch.send(f"https://example.com/{page}") for page in range(10)])
        print(len(pages), "pages at the same time")

        print(stuck.send().get().err_value.error_code)

        crashed = crash.send().get().err_value
        print(crashed.error_code, "-", crashed.message)

        print(flaky.send().get().unwrap())


if __name__ == "__main__":
    main()

# Output:
# cat.png at 200 px
# 10 pages at the same time
# TASK_TIMEOUT
# WORKER_CRASHED - the process that ran the task exited with code 3
# attempt 2 went well
