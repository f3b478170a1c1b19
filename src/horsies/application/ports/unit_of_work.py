"""One transaction: all of it happens, or none."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from horsies.application.ports.queue_store import QueueStore
from horsies.application.ports.recovery_store import RecoveryStore
from horsies.application.ports.task_archive import TaskArchive
from horsies.application.ports.task_store import TaskStore
from horsies.application.ports.worker_store import WorkerStore


class Transaction(Protocol):
    """The stores as this transaction sees them. They never commit by themselves."""

    @property
    def tasks(self) -> TaskStore: ...
    @property
    def recovery(self) -> RecoveryStore: ...
    @property
    def workers(self) -> WorkerStore: ...
    @property
    def queues(self) -> QueueStore: ...
    @property
    def archive(self) -> TaskArchive: ...


class UnitOfWork(Protocol):
    """`async with uow() as tx:` commits at the end, and undoes everything on an exception.

    Nothing foreign is awaited inside: no user code, no network but the store's own.
    """

    def __call__(self) -> AbstractAsyncContextManager[Transaction]: ...
