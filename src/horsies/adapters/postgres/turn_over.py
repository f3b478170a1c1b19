"""The step that nearly every task takes, as one statement that commits by itself.

It has a connection of its own, on which nothing is read that nobody looks at.
"""

from asyncio import Lock
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from psycopg import AsyncConnection

from horsies.adapters.postgres.audience import Audience
from horsies.adapters.postgres.claiming import (
    ELIGIBLE_AT,
    NO_ORDER,
    PRIORITY,
    QUEUE,
    TASK_ID,
    name_of,
    read_last,
    tiers_of,
    values_of,
)
from horsies.adapters.postgres.faults import translated
from horsies.adapters.postgres.grant import Batch, PostgresGrant
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.marks import Marks
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.raw import Instants, Ints, RowReader, Texts, Uuids, leave_raw
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.session import payloads
from horsies.application.ports.clock import Clock
from horsies.application.ports.executor import RunReport
from horsies.application.ports.turn_over import TurnedOver
from horsies.domain.ids import TaskId
from horsies.domain.queue import ClaimOrder

TOLD_UNASKED = 16
"""So few completions are announced to whoever listens; more only if somebody said that it waits."""

_place_in_queue = itemgetter(PRIORITY, ELIGIBLE_AT, TASK_ID)


class PostgresTurnOver:
    """`given_clock` takes the place of the database's own in tests; `observe` hears the latter."""

    def __init__(
        self,
        link: Link,
        queries: Queries,
        audience: Audience,
        observe: Callable[[datetime], None],
        given_clock: Clock | None = None,
    ) -> None:
        self._link = link
        self._queries = queries
        self._observe = observe
        self._given_clock = given_clock
        self._audience = audience
        self._marks = Marks()
        self._reader = RowReader()
        self._connection: AsyncConnection[Row] | None = None
        self._one_at_a_time = Lock()

    async def __call__(
        self, succeeded: Sequence[RunReport], order: ClaimOrder | None
    ) -> TurnedOver:
        order = order or NO_ORDER
        rows = await self._execute(name_of(order), self._values(succeeded, order))
        told = read_last(rows.pop())
        now = self._reader.instant(told.now)
        self._observe(now)
        _sort(rows, order)
        dry = self._marks.note(rows, dry=told.seen < order.reachable)
        batch = Batch(self._reader, order.worker, now, started=order.start)
        return TurnedOver(
            granted=[PostgresGrant(row, batch) for row in rows],
            unwritten=_unwritten(succeeded, told.missed),
            exhausted=dry,
        )

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _values(self, succeeded: Sequence[RunReport], order: ClaimOrder) -> dict[str, Any]:
        """All lock rows in one order: two who complete the same cannot block each other."""
        done = sorted(succeeded, key=lambda report: report.grant.key)
        now = self._given_clock.now() if self._given_clock else None
        values = values_of(order, now, self._link.done_channel)
        marks = self._marks.take(values["queues"])
        return values | {
            "ids": Uuids([report.grant.key for report in done]),
            "epochs": Ints([report.grant.epoch for report in done]),
            "results": Texts([report.result for report in done]),
            "mark_priorities": [priority for priority, _, _ in marks],
            "mark_times": Instants([time for _, time, _ in marks]),
            "mark_ids": Uuids([task_id for _, _, task_id in marks]),
            "announcements": self._announcements(done),
        }

    def _announcements(self, done: Sequence[RunReport]) -> list[str]:
        if not self._link.notify or (len(done) > TOLD_UNASKED and not self._audience.present):
            return []
        return list(payloads([report.grant.key.hex() for report in done]))

    async def _execute(self, name: str, values: dict[str, Any]) -> list[Row]:
        with translated():
            async with self._one_at_a_time:
                return await self._execute_alone(name, values)

    async def _execute_alone(self, name: str, values: dict[str, Any]) -> list[Row]:
        connection = self._connection or await self._connect()
        self._connection = None  # until it is known to be well
        try:
            async with connection.cursor(binary=True) as cursor:
                await cursor.execute(self._queries(name).encode(), values, prepare=True)
                rows = await cursor.fetchall()
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        return rows

    async def _connect(self) -> AsyncConnection[Row]:
        connection = await AsyncConnection[Row].connect(
            self._link.conninfo("tick"), autocommit=True
        )
        leave_raw(connection)
        return connection


def _unwritten(succeeded: Sequence[RunReport], missed: frozenset[TaskId]) -> list[RunReport]:
    if not missed:
        return []
    keys = {task_id.bytes for task_id in missed}
    return [report for report in succeeded if report.grant.key in keys]


def _sort(rows: list[Row], order: ClaimOrder) -> None:
    if sum(map(len, order.tiers)) > 1:
        tiers = {queue.encode(): tier for queue, tier in tiers_of(order).items()}
        rows.sort(key=lambda row: (tiers[row[QUEUE]], *_place_in_queue(row)))
    else:
        rows.sort(key=_place_in_queue)
