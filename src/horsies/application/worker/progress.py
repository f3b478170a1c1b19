"""What runs tell of themselves, written down for those who ask."""

import asyncio
from collections.abc import Mapping
from functools import partial

from horsies.application.ports.executor import Executor
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.worker.patience import Patience
from horsies.domain.progress import Progress
from horsies.domain.task import Claim

REST_SECONDS = 0.5
"""Between two writes: with the child's own rest, what is told is there within a second."""


class ProgressLoop:
    """One statement for all that was told meanwhile, and none if nothing was."""

    def __init__(
        self,
        *,
        executor: Executor,
        unit_of_work: UnitOfWork,
        patience: Patience,
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        self._executor = executor
        self._unit_of_work = unit_of_work
        self._patience = patience
        self._rest_seconds = rest_seconds
        self._told = asyncio.Event()

    def told(self) -> None:
        self._told.set()

    async def run(self) -> None:
        while True:
            await self._told.wait()
            self._told.clear()
            told = self._executor.take_progress()
            if told:
                await self._patience.through(partial(self._write, told))
                await asyncio.sleep(self._rest_seconds)

    async def _write(self, told: Mapping[Claim, Progress]) -> None:
        async with self._unit_of_work() as tx:
            await tx.tasks.note_progress(told)
