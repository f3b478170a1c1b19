"""The shortest ways into the table, for first sends of one task or of many that are alike."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from psycopg import AsyncConnection, AsyncRawCursor, RawCursor
from psycopg.pq import Format

from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.senders import SenderConnection
from horsies.adapters.postgres.sending import are_alike, common_values
from horsies.domain.sending import Batch
from horsies.domain.task import NewTask

MANY = 100
"""From here on COPY, which needs a round trip more, is faster than one statement."""

_ROWS_PER_WRITE = 1_000
_PLACES = 13
_PLACES_OF_TEXTS = {1, 2, 3, 5, 8}
_FORMATS = [Format.BINARY if n in _PLACES_OF_TEXTS else Format.TEXT for n in range(_PLACES)]
"""Of `enqueue_one`. Only in binary may a text hold anything."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class QuickSends:
    """What may have been sent before has to be looked for, and so does not come this way."""

    def __init__(self, queries: Queries) -> None:
        self._one = queries("enqueue_one").encode()
        self._alike = queries("alike").encode()
        self._copy = queries("copy_tasks").encode()

    def take(self, batch: Batch) -> bool:
        if batch.replay or batch.max_pending:
            return False
        count = len(batch.tasks)
        if count == 1:
            return batch.tasks[0].idempotency is None
        return count >= MANY and are_alike(batch)

    def run(
        self, connection: SenderConnection, tasks: Sequence[NewTask], now: datetime | None
    ) -> None:
        if len(tasks) == 1:
            connection.send_one(self._one, _texts_of_one(tasks[0], now), _FORMATS)
            return
        with RawCursor(connection) as cursor:
            (common,) = cursor.execute(self._alike, _common_texts(tasks[0], now)).fetchall()
            with cursor.copy(self._copy) as copy:
                for lines in _lines(tasks, common):
                    copy.write(lines)

    async def run_async(
        self, connection: AsyncConnection[Row], tasks: Sequence[NewTask], now: datetime | None
    ) -> None:
        async with AsyncRawCursor(connection) as cursor:
            if len(tasks) == 1:
                await cursor.execute(self._one, _texts_of_one(tasks[0], now))
                return
            await cursor.execute(self._alike, _common_texts(tasks[0], now))
            (common,) = await cursor.fetchall()
            async with cursor.copy(self._copy) as copy:
                for lines in _lines(tasks, common):
                    await copy.write(lines)


def _texts_of_one(task: NewTask, now: datetime | None) -> list[str | None]:
    return [task.id.hex, task.payload.decode(), *_common_texts(task, now)]


def _common_texts(task: NewTask, now: datetime | None) -> list[str | None]:
    """As the server reads them, whatever the type."""
    values = common_values(task, now).values()
    return [v if v is None or v.__class__ is str else _text(v) for v in values]


def _text(value: object) -> str:
    return f"{value.total_seconds()} s" if isinstance(value, timedelta) else str(value)


def _lines(tasks: Sequence[NewTask], common: Row) -> Iterator[str]:
    """In the text format of COPY."""
    tail = "\t".join("\\N" if text is None else text.translate(_ESCAPES) for text in common)
    for start in range(0, len(tasks), _ROWS_PER_WRITE):
        yield "".join(
            [
                f"{task.id.hex}\t{_escaped(task.payload)}\t{tail}\n"
                for task in tasks[start : start + _ROWS_PER_WRITE]
            ]
        )


def _escaped(payload: bytes) -> str:
    """JSON of ours holds no control characters; backslashes are the rule in it."""
    text = payload.decode()
    return text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES)
