"""A worker's ear: new tasks and cancels, as far as they are announced."""

import asyncio
import logging
from contextlib import aclosing
from datetime import datetime, timedelta

import psycopg
from psycopg import AsyncConnection, Notify, sql

from horsies.adapters.postgres.audience import Audience
from horsies.adapters.postgres.faults import translate
from horsies.adapters.postgres.lines import answer, roll, spread_seconds
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.listener import ANSWER_SECONDS, ids_in
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.session import CANCEL, LOOK, PING, WAITING
from horsies.application.ports.announcements import Hearer
from horsies.domain.backoff import exponential

FIRST_RETRY = timedelta(seconds=0.2)
LONGEST_RETRY = timedelta(seconds=5)

_log = logging.getLogger("horsies.worker")
_listen = sql.SQL("LISTEN {}; LISTEN {}")


class PostgresAnnouncements:
    """Without notifications a worker lives by its polls alone."""

    def __init__(
        self, link: Link, audience: Audience, *, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._link = link
        self._audience = audience
        self._answer_seconds = answer_seconds

    async def listen(self, hearer: Hearer) -> None:
        if not self._link.notify:
            return
        failures = 0
        while True:
            try:
                async with await self._connect() as connection:
                    hearer.news()  # whatever was announced until now was heard by nobody
                    failures = 0
                    await self._hear(connection, hearer)
            except psycopg.Error as error:
                level = logging.DEBUG if failures else logging.WARNING
                _log.log(level, "nothing is announced, polling goes on: %s", translate(error))
            wait = exponential(FIRST_RETRY, failures, LONGEST_RETRY, roll())
            failures += 1
            await asyncio.sleep(wait.total_seconds())

    async def _connect(self) -> AsyncConnection[Row]:
        connection = await AsyncConnection[Row].connect(
            self._link.conninfo("ear", listening=True), autocommit=True, prepare_threshold=None
        )
        channels = (self._link.new_channel, self._link.control_channel)
        statement = _listen.format(*map(sql.Identifier, channels))
        await answer(connection, connection.execute(statement), self._answer_seconds)
        return connection

    async def _hear(self, connection: AsyncConnection[Row], hearer: Hearer) -> None:
        """A half-open line brings no news and no error either, so it is spoken to now and then."""
        while True:
            notifications = connection.notifies(timeout=spread_seconds(self._link.poll_seconds))
            async with aclosing(notifications):
                async for notification in notifications:
                    self._tell(notification, hearer)
            await answer(connection, connection.execute("SELECT 1"), self._answer_seconds)

    def _tell(self, notification: Notify, hearer: Hearer) -> None:
        if notification.channel == self._link.new_channel:
            hearer.news()
            return
        word, _, rest = notification.payload.partition(" ")
        if word == CANCEL:
            hearer.cancels(ids_in(rest))
        elif word == LOOK:
            hearer.changes()
        elif word == PING:
            _tell_of_a_ping(rest, hearer)
        elif word == WAITING:
            self._audience.heard()


def _tell_of_a_ping(text: str, hearer: Hearer) -> None:
    """Anybody can send notifications: what is no instant is passed over."""
    try:
        asked_at = datetime.fromisoformat(text)
    except ValueError:
        return
    if asked_at.tzinfo is not None:
        hearer.pings(asked_at)
