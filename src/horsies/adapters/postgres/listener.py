"""One connection that hears of ended tasks, and looks for itself in between."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from uuid import UUID

import psycopg
from psycopg import AsyncConnection, sql

from horsies.adapters.postgres.faults import translate
from horsies.adapters.postgres.lines import answer, roll, spread_seconds
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.session import WAITING
from horsies.application.watches import Watches
from horsies.domain.backoff import exponential
from horsies.domain.ids import TaskId

ANSWER_SECONDS = 10.0
"""A look is a handful of index lookups: without an answer by then there is nobody there."""

POLL_WITHOUT_NOTIFY_SECONDS = 0.5
FIRST_LOOK_SECONDS = 0.1
FIRST_RETRY = timedelta(seconds=0.2)
LONGEST_RETRY = timedelta(seconds=5)

_logger = logging.getLogger("horsies")
_id_in_hex = re.compile(r"[0-9a-f]{32}")
_listen = sql.SQL("LISTEN {}")


class Listener:
    """Wakes the watches of what has ended. Notifications are fast, looking is certain.

    The look is also how the listener learns that its connection is dead: a half-open one brings
    no notifications, and no error either.
    """

    def __init__(
        self,
        link: Link,
        queries: Queries,
        watches: Watches,
        *,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._link = link
        self._queries = queries
        self._watches = watches
        self._answer_seconds = answer_seconds
        self._failures = 0

    async def run(self, nobody_waits: Callable[[], bool]) -> None:
        """Until nobody waits, whatever happens to the connection or in here."""
        while not nobody_waits():
            try:
                await self._serve(nobody_waits)
            except psycopg.Error as error:
                # An outage is told once, not with every try.
                level = logging.DEBUG if self._failures else logging.WARNING
                message = "waiting for results goes on without the database: %s"
                _logger.log(level, message, translate(error))
            except Exception:
                _logger.exception("the listener for results failed and starts again")
            else:
                return
            wait = exponential(FIRST_RETRY, self._failures, LONGEST_RETRY, roll())
            self._failures += 1
            await asyncio.sleep(wait.total_seconds())

    async def _serve(self, nobody_waits: Callable[[], bool]) -> None:
        async with self._connected() as connection:
            # What ended before LISTEN was active was announced to nobody.
            await self._look(connection)
            looks = 0
            while not nobody_waits():
                await self._hear(connection, self._seconds_to_next_look(looks))
                await self._look(connection)
                self._failures = 0
                looks += 1

    def _seconds_to_next_look(self, looks: int) -> float:
        """Soon after the first: a busy worker that has not heard of us yet announces nothing."""
        poll_seconds = self._link.poll_seconds
        if not self._link.notify:
            poll_seconds = min(poll_seconds, POLL_WITHOUT_NOTIFY_SECONDS)
        return spread_seconds(min(poll_seconds, FIRST_LOOK_SECONDS * 4 ** min(looks, 8)))

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[AsyncConnection[Row]]:
        # Who does not LISTEN needs no session, and may well come through a pooler.
        conninfo = self._link.conninfo("listener", listening=self._link.notify)
        connection = await AsyncConnection[Row].connect(
            conninfo, autocommit=True, prepare_threshold=None
        )
        try:
            if self._link.notify:
                listen = _listen.format(sql.Identifier(self._link.done_channel))
                await answer(connection, connection.execute(listen), self._answer_seconds)
            yield connection
        finally:
            await connection.close()

    async def _look(self, connection: AsyncConnection[Row]) -> None:
        values = {
            "ids": self._watches.watched(),
            "channel": self._link.control_channel,
            "word": WAITING if self._link.notify else None,
        }
        asking = connection.execute(self._queries("newly_ended").encode(), values)
        cursor = await answer(connection, asking, self._answer_seconds)
        rows = await cursor.fetchall()
        self._watches.announce([task_id for (task_id,) in rows if task_id is not None])

    async def _hear(self, connection: AsyncConnection[Row], seconds: float) -> None:
        """Until it is time for the next look."""
        if not self._link.notify:
            await asyncio.sleep(seconds)
            return
        notifications = connection.notifies(timeout=seconds)
        try:
            async with aclosing(notifications):
                async for notification in notifications:
                    self._watches.announce(ids_in(notification.payload))
        except UnicodeDecodeError:  # where a database has no encoding, a payload can be anything
            _logger.debug("a notification that is no text was passed over")


def ids_in(payload: str) -> list[TaskId]:
    """Anybody can send notifications: what is no id is passed over."""
    words = payload.split()
    ids = [TaskId(UUID(word)) for word in words if _id_in_hex.fullmatch(word)]
    if len(ids) < len(words) or not words:
        _logger.debug("a notification of ended tasks held something else, which was passed over")
    return ids
