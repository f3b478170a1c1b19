"""One lock's worth of work."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from horsies.adapters.memory.recovery_store import MemoryRecoveryStore
from horsies.adapters.memory.state import MemoryState
from horsies.adapters.memory.task_archive import MemoryTaskArchive
from horsies.adapters.memory.task_store import MemoryTaskStore
from horsies.adapters.memory.worker_store import MemoryWorkerStore


@dataclass(frozen=True, slots=True)
class MemoryTransaction:
    tasks: MemoryTaskStore
    recovery: MemoryRecoveryStore
    workers: MemoryWorkerStore
    archive: MemoryTaskArchive


class MemoryUnitOfWork:
    def __init__(self, state: MemoryState) -> None:
        self._state = state
        self._transaction = MemoryTransaction(
            MemoryTaskStore(state),
            MemoryRecoveryStore(state),
            MemoryWorkerStore(state),
            MemoryTaskArchive(state),
        )

    def __call__(self) -> AbstractAsyncContextManager[MemoryTransaction]:
        return self._begin()

    @asynccontextmanager
    async def _begin(self) -> AsyncGenerator[MemoryTransaction]:
        with self._state.transaction():
            yield self._transaction
