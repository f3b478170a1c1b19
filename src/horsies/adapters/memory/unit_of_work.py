"""One lock's worth of work."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from horsies.adapters.memory.queue_store import MemoryQueueStore
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
    queues: MemoryQueueStore
    archive: MemoryTaskArchive


class MemoryUnitOfWork:
    def __init__(self, state: MemoryState) -> None:
        self._state = state
        self._transaction = MemoryTransaction(
            MemoryTaskStore(state),
            MemoryRecoveryStore(state),
            MemoryWorkerStore(state),
            MemoryQueueStore(state),
            MemoryTaskArchive(state),
        )

    def __call__(self) -> "MemoryScope":
        return MemoryScope(self._state, self._transaction)


class MemoryScope(AbstractAsyncContextManager[MemoryTransaction]):
    """`async with` around one transaction."""

    __slots__ = ("_scope", "_transaction")

    def __init__(self, state: MemoryState, transaction: MemoryTransaction) -> None:
        self._scope = state.transaction()
        self._transaction = transaction

    async def __aenter__(self) -> MemoryTransaction:
        self._scope.__enter__()
        return self._transaction

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._scope.__exit__(kind)
