"""The PostgreSQL adapter put together."""

from horsies.adapters.postgres.announcements import PostgresAnnouncements
from horsies.adapters.postgres.audience import Audience
from horsies.adapters.postgres.completer import PostgresCompleter
from horsies.adapters.postgres.completions import PostgresCompletions
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.pool import AsyncConnections
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.quick_sends import QuickSends
from horsies.adapters.postgres.senders import SenderConnections
from horsies.adapters.postgres.sending import SendScripts
from horsies.adapters.postgres.task_inbox import PostgresTaskInbox
from horsies.adapters.postgres.turn_over import PostgresTurnOver
from horsies.adapters.postgres.unit_of_work import PostgresUnitOfWork
from horsies.application.ports.clock import Clock


class PostgresEngine:
    """The ports of one database. All but `inbox.accept` live on one event loop."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        queries = Queries(link.schema)
        self._sync = SenderConnections(link)
        self._async = AsyncConnections(link)
        self.unit_of_work = PostgresUnitOfWork(link, queries, self._async, clock)
        self.clock = self.unit_of_work.clock
        self.completions = PostgresCompletions(link, queries)
        audience = Audience()
        self.announcements = PostgresAnnouncements(link, audience)
        self.completer = PostgresCompleter.on(link, clock)
        self.turn_over: PostgresTurnOver | None = None
        if link.session_settings:  # without a session of its own there is nothing to be quick on
            observe = self.unit_of_work.database_clock.observe
            self.turn_over = PostgresTurnOver(link, queries, audience, observe, clock)
        self.inbox = PostgresTaskInbox(
            SendScripts(queries, link.lock_name("max_pending"), link.settings_of_transactions()),
            SendScripts(queries, link.lock_name("max_pending"), link.settings_of_callers()),
            QuickSends(queries) if link.session_settings else None,
            self._sync,
            self._async,
            clock=clock,
        )

    async def aclose(self) -> None:
        if self.turn_over is not None:
            await self.turn_over.aclose()
        await self.completions.aclose()
        await self._async.close()
        self._sync.close()
