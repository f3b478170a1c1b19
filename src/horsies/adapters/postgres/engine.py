"""The PostgreSQL adapter put together."""

from horsies.adapters.postgres.announcements import PostgresAnnouncements
from horsies.adapters.postgres.audience import Audience
from horsies.adapters.postgres.clock import DatabaseClock
from horsies.adapters.postgres.completions import PostgresCompletions
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.pool import AsyncConnections, SyncConnections
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.sending import SendScripts
from horsies.adapters.postgres.task_inbox import PostgresTaskInbox
from horsies.adapters.postgres.turn_over import PostgresTurnOver
from horsies.adapters.postgres.unit_of_work import PostgresUnitOfWork
from horsies.application.ports.clock import Clock


class PostgresEngine:
    """The ports of one database. All but `inbox.accept` live on one event loop."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        queries = Queries(link.schema)
        self._sync = SyncConnections(link)
        self._async = AsyncConnections(link)
        self.unit_of_work = PostgresUnitOfWork(link, queries, self._async, clock)
        self.clock = self.unit_of_work.clock
        self.completions = PostgresCompletions(link, queries)
        audience = Audience()
        self.announcements = PostgresAnnouncements(link, audience)
        self.turn_over = self._turn_over(link, queries, audience)
        self.inbox = PostgresTaskInbox(
            SendScripts(queries, link.lock_name("max_pending"), link.settings_of_transactions()),
            SendScripts(queries, link.lock_name("max_pending"), link.settings_of_callers()),
            self._sync,
            self._async,
            clock,
        )

    def _turn_over(
        self, link: Link, queries: Queries, audience: Audience
    ) -> PostgresTurnOver | None:
        """It lives on a session with settings and prepared statements, which poolers do not give;
        and by the database's time, as tests do not.
        """
        clock = self.unit_of_work.clock
        if not link.session_settings or not isinstance(clock, DatabaseClock):
            return None
        return PostgresTurnOver(link, queries, clock, audience)

    async def aclose(self) -> None:
        if self.turn_over is not None:
            await self.turn_over.aclose()
        await self.completions.aclose()
        await self._async.close()
        self._sync.close()
