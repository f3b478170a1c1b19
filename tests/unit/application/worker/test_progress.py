"""Progress is written when somebody has told some, all of it at once."""

import asyncio
from contextlib import asynccontextmanager

from horsies.adapters.memory.virtual_time import EvenDice
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.application.worker.patience import Patience
from horsies.application.worker.progress import ProgressLoop
from horsies.domain.progress import Progress
from tests.contract.conftest import memory_world
from tests.unit.application.worker.fakes import Hands


async def test_what_was_told_meanwhile_is_written_together_and_the_latest_stands():
    world, hands = memory_world(), Hands()
    patience = Patience(WorkerResilienceConfig(), EvenDice())
    transactions = []
    written = asyncio.Event()

    @asynccontextmanager
    async def counted():
        async with world.unit_of_work() as tx:
            yield tx
        transactions.append(tx)
        written.set()

    loop = ProgressLoop(executor=hands, unit_of_work=counted, patience=patience, rest_seconds=0)
    world.send()
    world.send()
    one, two = await world.claim()
    running = asyncio.create_task(loop.run())
    hands.told = {one.claim: Progress(0.5), two.claim: Progress(1.0, "done")}
    loop.told()
    loop.told()
    await written.wait()
    async with world.unit_of_work() as tx:
        found = [await tx.archive.progress(task.id) for task in (one, two)]
    running.cancel()
    assert found == [Progress(0.5), Progress(1.0, "done")]
    assert len(transactions) == 1
