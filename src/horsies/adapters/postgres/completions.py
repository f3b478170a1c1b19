"""Waking those who wait for results, by one connection for all of them."""

import asyncio
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import Context
from threading import RLock
from time import monotonic

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.listener import ANSWER_SECONDS, Listener
from horsies.adapters.postgres.queries import Queries
from horsies.application.watches import Watch, Watches
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.ids import TaskId

LINGER_SECONDS = 30.0
"""The connection is kept this long for those who wait next."""

CHECK_SECONDS = 5.0
"""How often who waits looks whether somebody still listens for it."""

_STEP_SECONDS = 0.01


class AttendedWatch:
    """Who listens may be on another loop, and that loop may end first: so each sees to it."""

    def __init__(
        self, watch: Watch, see_to_listener: Callable[[], None], check_seconds: float
    ) -> None:
        self._watch = watch
        self._see_to_listener = see_to_listener
        self._check_seconds = check_seconds

    async def wait(self, timeout_seconds: float | None) -> bool:
        left = float("inf") if timeout_seconds is None else timeout_seconds
        deadline = monotonic() + left
        while True:
            self._see_to_listener()
            if await self._watch.wait(min(left, self._check_seconds)):
                return True
            left = deadline - monotonic()
            if left <= 0:
                return False


class PostgresCompletions:
    """The listener lives on the loop of the first that waits, while somebody does."""

    def __init__(
        self,
        link: Link,
        queries: Queries,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        linger_seconds: float = LINGER_SECONDS,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        self._link = link
        self._queries = queries
        self._answer_seconds = answer_seconds
        self._linger_seconds = linger_seconds
        self._check_seconds = check_seconds
        self._watches = Watches()
        self._last_wait = monotonic()
        self._lock = RLock()  # a loop may begin a task within the call that makes it
        self._listening: asyncio.Task[None] | None = None
        self._closed = False

    @contextmanager
    def watch(self, ids: Collection[TaskId]) -> Generator[AttendedWatch]:
        with self._watches.watch(ids) as watch:
            self._see_to_listener()
            try:
                yield AttendedWatch(watch, self._see_to_listener, self._check_seconds)
            finally:
                self._last_wait = monotonic()

    async def aclose(self) -> None:
        """Those who still wait are woken, and told that this is closed when they go on."""
        with self._lock:
            self._closed = True
            listening, self._listening = self._listening, None
        self._watches.announce(self._watches.watched())
        if listening is not None:
            _dismiss(listening)
            while _is_on_duty(listening):  # noqa: ASYNC110 - it may be on another loop
                await asyncio.sleep(_STEP_SECONDS)

    def _see_to_listener(self) -> None:
        with self._lock:
            if self._closed:
                raise BrokerError("this app is closed", fault=BrokerFault.CLOSED)
            if self._listening is not None:
                if _is_on_duty(self._listening):
                    return
                _dismiss(self._listening)
            listener = Listener(
                self._link, self._queries, self._watches, answer_seconds=self._answer_seconds
            )
            # In a context of its own: it outlives whoever happens to wait first.
            self._listening = Context().run(
                asyncio.get_running_loop().create_task, listener.run(self._nobody_waits)
            )

    def _nobody_waits(self) -> bool:
        """Asked by the listener, which ends if so; whoever comes after that starts another."""
        with self._lock:
            if self._watches.watched() or monotonic() < self._last_wait + self._linger_seconds:
                return False
            if self._listening is asyncio.current_task():
                self._listening = None
            return True


def _is_on_duty(task: asyncio.Task[None]) -> bool:
    return not task.done() and task.get_loop().is_running()


def _dismiss(task: asyncio.Task[None]) -> None:
    """Tasks may be cancelled only by their own loop; one that stands still may yet go on."""
    with suppress(RuntimeError):  # the loop is closed, and the task ended with it
        task.get_loop().call_soon_threadsafe(task.cancel)
