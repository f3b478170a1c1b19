"""How a worker meets a database that is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from horsies.application.ports.dice import Dice
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.domain.backoff import exponential
from horsies.domain.errors import BrokerError, BrokerFault

T = TypeVar("T")

_OF_OTHERS = {BrokerFault.BUSY, BrokerFault.CONFLICT}
"""They tell of somebody else's work, not that the database is away."""

_log = logging.getLogger("horsies.worker")


class Patience:
    """Tries again with growing waits, for as long as it is worth it.

    `outages` counts how often the database was not to be had. An error that no wait can mend comes
    through, and so does the last one when the tries are used up.
    """

    def __init__(self, config: WorkerResilienceConfig, dice: Dice) -> None:
        self._first = timedelta(milliseconds=config.db_retry_initial_ms)
        self._longest = timedelta(milliseconds=config.db_retry_max_ms)
        self._tries = config.db_retry_max_attempts
        self._dice = dice
        self._waits: set[asyncio.Event] = set()
        self._is_worth_it: Callable[[], bool] = lambda: True
        self.outages = 0

    def only_while(self, is_worth_it: Callable[[], bool]) -> None:
        """From now on; whoever waits asks himself at once."""
        self._is_worth_it = is_worth_it
        self.reconsider()

    def reconsider(self) -> None:
        for wait in self._waits:
            wait.set()

    async def through(self, act: Callable[[], Awaitable[T]], *, alone: bool = False) -> T:
        """`alone` says that it never waits for others: if it takes too long, nobody is there."""
        failures = 0
        while True:
            try:
                answer = await act()
            except BrokerError as error:
                if alone or error.fault not in _OF_OTHERS:
                    self.outages += 1
                failures += 1
                if not error.retryable or failures == self._tries:
                    raise
                self._tell(error, failures)
                wait = exponential(self._first, failures - 1, self._longest, self._dice.roll())
                worth_it = await self._wait(wait.total_seconds())
                if not worth_it and error.fault not in _OF_OTHERS:
                    raise
            else:
                if failures:
                    _log.info("the database answers again")
                return answer

    async def _wait(self, seconds: float) -> bool:
        """Whether it is still worth it afterwards."""
        reconsidered = asyncio.Event()
        self._waits.add(reconsidered)
        try:
            if self._is_worth_it():
                async with asyncio.timeout(seconds):
                    await reconsidered.wait()
        except TimeoutError:
            pass
        finally:
            self._waits.discard(reconsidered)
        return self._is_worth_it()

    def _tell(self, error: BrokerError, failures: int) -> None:
        """An outage is told once, not with every try."""
        level = logging.WARNING if failures == 1 else logging.DEBUG
        _log.log(level, "the database does not answer, trying again: %s", error)
