"""One open transaction: statements by name, and what is to be announced when it commits."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.pq import TransactionStatus

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.rows import Row, columns_of_tasks, task_of
from horsies.application.ports.clock import Clock
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.ids import TaskId
from horsies.domain.task import Task

IDS_PER_NOTIFICATION = 240
"""32 digits and a space each: a payload has to stay below 8,000 bytes."""

CANCEL, LOOK, PING = "cancel", "look", "ping"
"""The first word of what is said to workers: end these tasks, see what you may do, who is there."""

WAITING = "waiting"
"""What those who wait for results say to all workers."""

_COMMIT = sql.SQL("COMMIT")
_NOTIFY = sql.SQL(  # a full notification queue must not undo the work
    "SELECT pg_notify({channel}, {payload}) WHERE pg_notification_queue_usage() < 0.5"
)


class Session:
    def __init__(
        self, connection: AsyncConnection[Row], link: Link, queries: Queries, clock: Clock
    ) -> None:
        self._connection = connection
        self._link = link
        self._queries = queries
        self._claimable: set[str] = set()
        self._counted: set[str] = set()
        self._ended: list[TaskId] = []
        self._cancelled: list[TaskId] = []
        self._said: list[str] = []
        self.clock = clock

    async def rows(self, query: str, **values: Any) -> list[Row]:
        cursor = await self._connection.execute(self._queries(query).encode(), values)
        return await cursor.fetchall()

    async def change(self, query: str, **values: Any) -> int:
        """How many rows were touched."""
        cursor = await self._connection.execute(self._queries(query).encode(), values)
        return cursor.rowcount

    async def tasks(self, query: str, **values: Any) -> list[Task]:
        return [task_of(row) for row in await self.rows(query, **values)]

    async def write(self, tasks: Sequence[Task]) -> None:
        """Rows that this transaction has locked, as the domain has changed them."""
        live = [task for task in tasks if not task.status.is_terminal]
        ended = [task for task in tasks if task.status.is_terminal]
        if live:
            await self.change("update_tasks", **columns_of_tasks(live))
            self._claimable.update(task.queue for task in live if task.claimable)
        if ended:
            await self.change("end_tasks", **columns_of_tasks(ended))
            self.announce_end(task.id for task in ended)

    def counted(self, queues: Iterable[str]) -> None:
        """Under a cap the end of a task makes room that others may be waiting for."""
        self._counted.update(queues)

    def announce_end(self, ids: Iterable[TaskId]) -> None:
        self._ended.extend(ids)

    def announce_cancel(self, ids: Iterable[TaskId]) -> None:
        """To whoever runs them."""
        self._cancelled.extend(ids)

    def announce_queue(self, queue: str) -> None:
        """To whoever claims from it."""
        self._claimable.add(queue)

    def say(self, *words: str) -> None:
        """To every worker."""
        self._said.append(" ".join(words))

    @property
    def done_channel(self) -> str:
        return self._link.done_channel

    def lock_name(self, purpose: str) -> str:
        return self._link.lock_name(purpose)

    async def commit(self) -> None:
        """Announcements and the commit, in one round trip."""
        if self._connection.info.transaction_status is TransactionStatus.INERROR:
            # The server would answer this COMMIT with a rollback, and without an error.
            raise BrokerError(
                "a statement of this transaction has failed, so nothing of it was kept",
                fault=BrokerFault.UNKNOWN,
            )
        announcements = list(self._announcements()) if self._link.notify else []
        statements = sql.SQL("; ").join([*announcements, _COMMIT])
        await self._connection.execute(statements)

    def _announcements(self) -> Iterator[sql.Composed]:
        for queue in sorted(self._claimable | (self._counted if self._ended else set())):
            yield _NOTIFY.format(channel=self._link.new_channel, payload=queue)
        for payload in payloads([task_id.hex for task_id in self._ended]):
            yield _NOTIFY.format(channel=self._link.done_channel, payload=payload)
        for payload in payloads([task_id.hex for task_id in self._cancelled]):
            yield _NOTIFY.format(channel=self._link.control_channel, payload=f"{CANCEL} {payload}")
        for words in self._said:
            yield _NOTIFY.format(channel=self._link.control_channel, payload=words)


def payloads(ids: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(ids), IDS_PER_NOTIFICATION):
        yield " ".join(ids[start : start + IDS_PER_NOTIFICATION])
