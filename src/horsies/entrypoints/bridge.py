"""Running coroutines for callers that are not async."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import CancelledError as FutureCancelledError
from contextvars import ContextVar
from threading import Lock, Thread, get_ident
from typing import Any, TypeVar

T = TypeVar("T")

driven: ContextVar[bool] = ContextVar("horsies_driven", default=False)
"""Whether the code that asks is being driven without an event loop."""


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, on the caller's own thread and without a loop.

    What is in memory answers at once, so nothing has to be awaited. The caller's thread matters:
    debuggers, thread-local sessions and database connections of tests stay what they are.
    """
    token = driven.set(True)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    finally:
        driven.reset(token)
        coroutine.close()
    raise RuntimeError("this work has to wait: use the async form of the call")


async def here(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run it on the caller's own loop."""
    return await coroutine


class LoopClosedError(RuntimeError):
    """What was asked for can no longer be done there."""


class LoopThread:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._thread_id: int | None = None
        self._closed = False

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it there and wait here; works from any thread, also from inside another loop."""
        loop = self._running_loop()
        if loop is None or get_ident() == self._thread_id:
            coroutine.close()
            if loop is None:
                raise LoopClosedError("this is closed: no async task can run here any more")
            raise RuntimeError("an async task cannot block its own loop: await the _async form")
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
        except FutureCancelledError:
            raise LoopClosedError("the loop was closed while this was running") from None

    async def run_async(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it there and wait here on another loop, or right here if this is its loop."""
        loop = self._running_loop()
        if loop is None:
            coroutine.close()
            raise LoopClosedError("this is closed: nothing can run here any more")
        if get_ident() == self._thread_id:
            return await coroutine
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))

    def close(self) -> None:
        """Stop the loop; what still runs on it is cancelled, and the thread has ended after."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None and get_ident() != self._thread_id:
            self._thread.join()

    def abandon(self) -> None:
        """In a forked child, where its thread is not: what was left on it is no loss to tell of."""
        if self._loop is not None:
            for task in asyncio.all_tasks(self._loop):
                task._log_destroy_pending = False  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue] - there is no other way

    def _running_loop(self) -> asyncio.AbstractEventLoop | None:
        with self._lock:
            if self._loop is None and not self._closed:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(
                    target=_serve, args=(self._loop,), name="horsies", daemon=True
                )
                self._thread.start()
                self._thread_id = self._thread.ident
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()
