"""Completions inside callers' transactions, on whatever connection they are given."""

from horsies.adapters.postgres.callers import (
    run_on_async_caller,
    run_on_caller,
    watch_async_transaction,
    watch_transaction,
)
from horsies.adapters.postgres.faults import translated
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.scripts import Ask, Script
from horsies.application.ports.clock import Clock
from horsies.application.ports.completer import StillOpen
from horsies.domain.errors import CompletionError, CompletionRefusal
from horsies.domain.task import Claim


class PostgresCompleter:
    """It has no connection of its own. Without a channel nobody is told.

    `clock` takes the place of the database's own in tests.
    """

    def __init__(self, queries: Queries, channel: str | None, clock: Clock | None = None) -> None:
        self._queries = queries
        self._channel = channel
        self._clock = clock

    @classmethod
    def on(cls, link: Link, clock: Clock | None = None) -> "PostgresCompleter":
        return cls(Queries(link.schema), link.done_channel if link.notify else None, clock)

    def complete(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        with translated():
            run_on_caller(connection, self._script(claim, result))
        return watch_transaction(connection)

    async def complete_async(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        with translated():
            await run_on_async_caller(connection, self._script(claim, result))
        return await watch_async_transaction(connection)

    def _script(self, claim: Claim, result: bytes) -> Script[None]:
        own = {"id": str(claim.id), "epoch": claim.epoch}
        ended = yield Ask(
            self._queries("complete_in"),
            {
                **own,
                "result": result.decode(),
                "now": self._clock.now() if self._clock else None,
                "notify": self._channel is not None,
                "channel": self._channel or "",
            },
        )
        if not ended:
            ((is_node, is_completed),) = yield Ask(self._queries("why_not_completed"), own)
            raise CompletionError(_refusal(is_node=is_node, is_completed=is_completed))


def _refusal(*, is_node: bool, is_completed: bool) -> CompletionRefusal:
    if is_node:
        return CompletionRefusal.WORKFLOW_NODE
    return CompletionRefusal.REPEATED if is_completed else CompletionRefusal.LOST
