"""A task as a claim gives it, read only as far as running it needs."""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from horsies.adapters.postgres.claiming import (
    ARGS,
    ATTEMPT,
    CRASHES,
    EPOCH,
    GOOD_UNTIL,
    NAME,
    QUEUE,
    RESULT_TTL,
    TASK_ID,
    TERMS,
    claimed_task,
)
from horsies.adapters.postgres.raw import RowReader
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.terms import decode_terms
from horsies.domain.ids import TaskId, WorkerId
from horsies.domain.task import Claim, Task, Terms

_text = lru_cache(maxsize=4096)(bytes.decode)


class Batch:
    """What the tasks of one claim have in common."""

    __slots__ = ("at", "reader", "started", "worker")

    def __init__(self, reader: RowReader, worker: WorkerId, at: datetime, *, started: bool) -> None:
        self.reader = reader
        self.worker = worker
        self.at = at
        self.started = started


class PostgresGrant:
    __slots__ = (
        *("_batch", "_row", "_task"),
        *("attempt", "crashes", "epoch", "key", "name", "payload", "queue", "terms"),
    )

    def __init__(self, row: Row, batch: Batch) -> None:
        self._row = row
        self._batch = batch
        self._task: Task | None = None
        self.key: bytes = row[TASK_ID]
        self.epoch: int = row[EPOCH]
        self.name = _text(row[NAME])
        self.queue = _text(row[QUEUE])
        self.payload: bytes = row[ARGS]
        self.attempt: int = row[ATTEMPT]
        self.crashes: int = row[CRASHES]
        self.terms = _terms_of(row[TERMS], row[RESULT_TTL], batch.reader)

    @property
    def claim(self) -> Claim:
        return Claim(TaskId(UUID(bytes=self.key)), self.epoch)

    @property
    def claimed_at(self) -> datetime | None:
        return self._batch.at

    @property
    def expires(self) -> bool:
        return self._row[GOOD_UNTIL] is not None

    @property
    def task(self) -> Task:
        if self._task is None:
            batch = self._batch
            row = batch.reader(self._row)
            self._task = claimed_task(row, batch.worker, batch.at, started=batch.started)
        return self._task


@lru_cache(maxsize=1024)
def _terms_of(terms: bytes | None, lifetime: bytes | None, reader: RowReader) -> Terms:
    text = None if terms is None else terms.decode()
    return decode_terms(text, None if lifetime is None else reader.lifetime(lifetime))
