"""The shortest ways into the table, for first sends of one task or of many that are alike."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, RawCursor

from horsies.adapters.postgres.pool import SenderConnection
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.sending import are_alike, common_values
from horsies.domain.sending import Batch
from horsies.domain.task import NewTask

MANY = 100
"""From here on COPY, which needs a round trip more, is faster than one statement."""

_ROWS_PER_WRITE = 1_000
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class QuickSends:
    """What may have been sent before has to be looked for, and so does not come this way."""

    def __init__(self, queries: Queries) -> None:
        self._one = queries("enqueue_one").encode()
        self._alike = queries("alike").encode()
        self._copy = queries("copy_tasks").encode()

    def take(self, batch: Batch) -> bool:
        count = len(batch.tasks)
        return (count == 1 or count >= MANY) and not batch.max_pending and are_alike(batch)

    def run(
        self, connection: SenderConnection, tasks: Sequence[NewTask], now: datetime | None
    ) -> None:
        cursor: RawCursor[Row] = connection.cursor_of_sends
        if len(tasks) == 1:
            cursor.execute(self._one, _values_of_one(tasks[0], now))
            return
        common = cursor.execute(self._alike, _values_of_many(tasks, now)).fetchall()[0]
        with cursor.copy(self._copy) as copy:
            for lines in _lines(tasks, common):
                copy.write(lines)

    async def run_async(
        self, connection: AsyncConnection[Row], tasks: Sequence[NewTask], now: datetime | None
    ) -> None:
        async with AsyncRawCursor(connection) as cursor:
            if len(tasks) == 1:
                await cursor.execute(self._one, _values_of_one(tasks[0], now))
                return
            await cursor.execute(self._alike, _values_of_many(tasks, now))
            (common,) = await cursor.fetchall()
            async with cursor.copy(self._copy) as copy:
                for lines in _lines(tasks, common):
                    await copy.write(lines)


def _values_of_one(task: NewTask, now: datetime | None) -> tuple[Any, ...]:
    return (str(task.id), task.payload.decode(), *common_values(task, now).values())


def _values_of_many(tasks: Sequence[NewTask], now: datetime | None) -> tuple[Any, ...]:
    return tuple(common_values(tasks[0], now).values())


def _lines(tasks: Sequence[NewTask], common: Row) -> Iterator[str]:
    """In the text format of COPY."""
    tail = "\t".join("\\N" if text is None else text.translate(_ESCAPES) for text in common)
    for start in range(0, len(tasks), _ROWS_PER_WRITE):
        yield "".join(
            [
                f"{task.id}\t{_escaped(task.payload)}\t{tail}\n"
                for task in tasks[start : start + _ROWS_PER_WRITE]
            ]
        )


def _escaped(payload: bytes) -> str:
    """JSON of ours holds no control characters; backslashes are the rule in it."""
    text = payload.decode()
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)
