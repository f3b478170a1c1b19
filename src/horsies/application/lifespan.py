"""The life of an app in one process: entered before the first run, left after the last."""

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from threading import Lock
from typing import Any

from horsies.application.hooks import Hooks


class Lifespan:
    """`state` is what the app's lifespan has yielded; None without one.

    It is entered and left by one and the same asyncio task, as cancel scopes need it to be.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._lock = Lock()
        self._entered: Future[None] | None = None
        self._living: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self.state: Any = None

    @property
    def is_entered(self) -> bool:
        """Whether there is nothing (more) to be entered."""
        if self._hooks.lifespan is None:
            return True
        entered = self._entered
        return entered is not None and entered.done() and entered.exception() is None

    async def enter(self) -> None:
        """Once, on the loop of whoever is first; what the app raises comes out here."""
        if self._hooks.lifespan is None:
            return
        with self._lock:
            if self._entered is None:
                self._entered = Future()
                # In a context of its own: it outlives whoever happens to be first.
                living = self._live(self._entered)
                self._living = asyncio.create_task(living, context=Context())
        await asyncio.wrap_future(self._entered)

    async def leave(self) -> None:
        """What the app raises on its way out comes out here."""
        living, self._living = self._living, None
        if living is not None:
            self._leave.set()
            await living

    def leave_soon(self) -> None:
        """For who cannot wait: on the next turn of the loop on which it was entered."""
        if self._living is not None:
            with suppress(RuntimeError):  # that loop is closed, and this was left with it
                self._living.get_loop().call_soon_threadsafe(self._leave.set)

    async def _live(self, entered: Future[None]) -> None:
        assert self._hooks.lifespan is not None
        try:
            async with self._hooks.lifespan() as self.state:
                entered.set_result(None)
                with suppress(asyncio.CancelledError):  # the loop is being closed: time to leave
                    await self._leave.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)
