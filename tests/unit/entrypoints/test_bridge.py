"""The bridge: coroutines for callers that are not async."""

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from horsies.entrypoints.bridge import LoopThread, drive, driven


async def at_once(value: int) -> int:
    return value


async def after_a_while(value: int) -> int:
    await asyncio.sleep(0.001)
    return value


async def failing() -> int:
    raise KeyError("inside")


class TestDrive:
    def test_what_never_waits_gives_its_value(self):
        async def deeper() -> int:
            return await at_once(3) + await at_once(4)

        assert drive(deeper()) == 7

    def test_none_is_a_value_too(self):
        async def nothing() -> None:
            return

        assert drive(nothing()) is None

    def test_exceptions_come_through(self):
        with pytest.raises(KeyError, match="inside"):
            drive(failing())

    async def test_what_waits_is_refused(self):
        with pytest.raises(RuntimeError, match="use the async form of the call"):
            drive(after_a_while(1))

    def test_what_waits_is_cleaned_up(self):
        steps = []

        async def careful() -> None:
            try:
                await Suspends()
            finally:
                steps.append("cleaned up")

        with pytest.raises(RuntimeError, match="has to wait"):
            drive(careful())
        assert steps == ["cleaned up"]

    def test_it_runs_on_the_caller_s_thread_without_a_loop(self):
        async def look() -> threading.Thread:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return threading.current_thread()

        assert drive(look()) is threading.current_thread()

    def test_the_driven_code_knows_that_it_is_driven(self):
        async def look() -> bool:
            return driven.get()

        assert drive(look())
        assert not driven.get()

    def test_it_may_be_nested(self):
        async def outer() -> tuple[int, bool]:
            return drive(at_once(5)), driven.get()

        assert drive(outer()) == (5, True)

    def test_it_is_over_after_an_exception_too(self):
        with pytest.raises(KeyError):
            drive(failing())
        assert not driven.get()


class Suspends:
    def __await__(self):
        yield


@pytest.fixture
def loop_thread() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


async def where() -> threading.Thread:
    return threading.current_thread()


class TestLoopThread:
    def test_a_coroutine_may_wait_there(self, loop_thread):
        assert loop_thread.run(after_a_while(5)) == 5

    def test_exceptions_come_through(self, loop_thread):
        with pytest.raises(KeyError, match="inside"):
            loop_thread.run(failing())

    def test_the_thread_is_started_once_and_does_not_hold_the_process(self, loop_thread):
        first, second = loop_thread.run(where()), loop_thread.run(where())
        assert first is second
        assert first is not threading.current_thread()
        assert (first.name, first.daemon) == ("horsies", True)

    def test_nothing_is_started_before_it_is_needed(self):
        before = threading.active_count()
        LoopThread().close()
        assert threading.active_count() == before

    def test_many_threads_share_it(self, loop_thread):
        with ThreadPoolExecutor(8) as threads:
            values = list(threads.map(lambda n: loop_thread.run(after_a_while(n)), range(40)))
            homes = set(threads.map(lambda _: loop_thread.run(where()), range(8)))
        assert values == list(range(40))
        assert len(homes) == 1

    async def test_it_works_inside_another_loop(self, loop_thread):
        assert loop_thread.run(after_a_while(5)) == 5

    def test_its_own_loop_is_told_to_await_instead(self, loop_thread):
        async def blocks() -> int:
            return loop_thread.run(after_a_while(5))

        with pytest.raises(RuntimeError, match="await the _async form"):
            loop_thread.run(blocks())

    def test_nothing_runs_there_after_it_was_closed(self, loop_thread):
        loop_thread.close()
        coroutine = at_once(1)
        with pytest.raises(RuntimeError, match="closed"):
            loop_thread.run(coroutine)
        assert coroutine.cr_frame is None  # closed too, or Python warns that nobody awaited it

    def test_closing_twice_does_no_harm(self, loop_thread):
        loop_thread.run(at_once(1))
        loop_thread.close()
        loop_thread.close()

    def test_its_thread_ends_when_it_is_closed(self, loop_thread):
        thread = loop_thread.run(where())
        loop_thread.close()
        thread.join(timeout=30)
        assert not thread.is_alive()

    def test_who_waits_while_it_is_closed_is_not_left_waiting(self, loop_thread):
        waiting = threading.Event()
        outcome = []

        async def long() -> None:
            waiting.set()
            await asyncio.sleep(60)

        def wait() -> None:
            try:
                loop_thread.run(long())
            except BaseException as error:  # noqa: BLE001 - any end will do
                outcome.append(error)

        waiter = threading.Thread(target=wait, daemon=True)
        waiter.start()
        waiting.wait(timeout=30)
        loop_thread.close()
        waiter.join(timeout=30)
        assert len(outcome) == 1

    def test_what_is_left_behind_is_cancelled_when_it_is_closed(self, loop_thread):
        ended = threading.Event()
        left: list[asyncio.Task[None]] = []

        async def long() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        async def leave() -> None:
            left.append(asyncio.create_task(long()))
            await asyncio.sleep(0)

        loop_thread.run(leave())
        loop_thread.close()
        assert ended.wait(timeout=30)

    def test_the_caller_s_context_goes_along(self, loop_thread):
        variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")
        variable.set(7)

        async def look() -> int:
            return variable.get()

        assert loop_thread.run(look()) == 7
