"""Running what an app has queued right here, one task after the other: for laws about senders."""

from horsies import Horsies
from horsies.application.ports.executor import RunReport
from horsies.application.ports.performer import Job
from horsies.domain.queue import Room
from horsies.domain.task import Task
from horsies.entrypoints.container import Container

A_BATCH = Room(free_slots=100)


class Unsupervised:
    """Nobody listens, and nobody asks a run to end."""

    def begin(self) -> None: ...

    def progress(self, fraction: float, note: str | None) -> None: ...

    def is_cancelled(self) -> bool:
        return False


def drain(app: Horsies) -> int:
    """What is due now; gives the number of runs."""
    online = app._connected()
    return online.run(_drain(online.container))


async def _drain(container: Container) -> int:
    unit_of_work, settle, claim = container.unit_of_work(), container.settle(), container.claim()
    perform, worker = container.perform(), container.ids().worker_id()
    queues = [queue.name for queue in container.config().queues()]

    def run(task: Task) -> RunReport:
        done = perform.run(Job.of(task), Unsupervised())
        return RunReport(task, done.outcome, done.result, done.detail)

    runs, reports = 0, []
    while True:
        async with unit_of_work() as tx:
            await settle(tx, reports)
            await tx.tasks.promote(queues, A_BATCH.free_slots)
            tasks = await claim(tx, worker, A_BATCH)
        if not tasks:
            return runs
        reports = [run(task) for task in tasks]
        runs += len(tasks)
