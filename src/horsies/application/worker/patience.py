"""How a worker meets a database that is away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from horsies.application.ports.dice import Dice
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.domain.backoff import exponential
from horsies.domain.errors import BrokerError

T = TypeVar("T")

_log = logging.getLogger("horsies.worker")


class Patience:
    """Tries again with growing waits; `outages` counts how often something was not to be had.

    An error that no wait can mend comes through, and so does the last one when the tries are used
    up.
    """

    def __init__(self, config: WorkerResilienceConfig, dice: Dice) -> None:
        self._first = timedelta(milliseconds=config.db_retry_initial_ms)
        self._longest = timedelta(milliseconds=config.db_retry_max_ms)
        self._tries = config.db_retry_max_attempts
        self._dice = dice
        self.outages = 0

    async def through(self, act: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                answer = await act()
            except BrokerError as error:
                self.outages += 1
                failures += 1
                if not error.retryable or failures == self._tries:
                    raise
                self._tell(error, failures)
                wait = exponential(self._first, failures - 1, self._longest, self._dice.roll())
                await asyncio.sleep(wait.total_seconds())
            else:
                if failures:
                    _log.info("the database answers again")
                return answer

    def _tell(self, error: BrokerError, failures: int) -> None:
        """An outage is told once, not with every try."""
        level = logging.WARNING if failures == 1 else logging.DEBUG
        _log.log(level, "the database does not answer, trying again: %s", error)
