"""Results that could not be written, because somebody holds the row or because of what they hold.

They are tried again by themselves: nobody else's result, and no claim, waits for them.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

from horsies.application.ports.executor import RunReport
from horsies.domain.backoff import exponential
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Errored

OF_SINGLE_ROWS = frozenset({BrokerFault.BUSY, BrokerFault.CONFLICT, BrokerFault.REFUSED})
"""Faults that say nothing about the next row."""

_FIRST_WAIT = timedelta(seconds=0.2)
_LONGEST_WAIT = timedelta(seconds=5)
LAST_SECONDS = 10.0
"""For rows that are held even when the worker has nothing else left to do."""

_log = logging.getLogger("horsies.worker")


class Stragglers:
    """`write` settles one run; `written` is told when that is done."""

    def __init__(
        self,
        write: Callable[[RunReport], Awaitable[None]],
        written: Callable[[RunReport], None],
    ) -> None:
        self._write = write
        self._written = written
        self._waiting: deque[RunReport] = deque()
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, report: RunReport, error: BrokerError) -> None:
        grant = report.grant
        _log.warning(
            "the end of task %s (%r) cannot be written yet: %s", grant.claim.id, grant.name, error
        )
        self._waiting.append(_writable(report, error))
        self._news.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._news.wait()
            await self._try_all()
            self._news.clear()

    async def finish(self, seconds: float = LAST_SECONDS) -> None:
        """When the processes are gone that may have held the rows; then there is nobody to wait."""
        try:
            async with asyncio.timeout(seconds):
                await self._try_all()
        except TimeoutError:
            ids = ", ".join(str(report.grant.claim.id) for report in self._waiting)
            _log.error("results are lost, and their tasks will count as crashed: %s", ids)

    async def _try_all(self) -> None:
        """In turns, with a growing rest while nothing can be written."""
        failures = 0
        while self._waiting:
            report = self._waiting[0]
            try:
                await self._write(report)
            except BrokerError as error:
                self._waiting.popleft()
                self._waiting.append(_writable(report, error))
                wait = exponential(_FIRST_WAIT, failures, _LONGEST_WAIT, 0.5)
                failures += 1
                await asyncio.sleep(wait.total_seconds())
            else:
                self._waiting.popleft()
                failures = 0
                self._written(report)


def _writable(report: RunReport, error: BrokerError) -> RunReport:
    """A result that the database does not take is an error that it does."""
    if error.fault is not BrokerFault.REFUSED:
        return report
    outcome = Errored(OperationalErrorCode.WORKER_SERIALIZATION_ERROR)
    return RunReport(report.grant, outcome, detail=f"the result could not be stored: {error}")
