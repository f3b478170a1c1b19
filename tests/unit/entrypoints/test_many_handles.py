"""Waiting for many tasks at once."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from horsies import (
    Horsies,
    RetrievalErrorCode,
    TaskError,
    TaskHandle,
    TaskResult,
    as_completed,
    as_completed_async,
    gather,
    gather_async,
)
from horsies.testing import Sandbox
from tests.unit.entrypoints.handle_tasks import (
    add,
    app,
    fail,
    fresh_sandbox,
    runs,
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with fresh_sandbox() as sandbox:
        yield sandbox


def unwrapped(results):
    return [result.unwrap() for result in results]


@pytest.mark.usefixtures("sandbox")
class TestMany:
    def test_gather_gives_results_in_the_order_of_the_handles(self):
        handles = add.send_many({"x": n} for n in range(20))
        assert unwrapped(gather(reversed(handles))) == list(range(20, 0, -1))

    async def test_gather_async_does_the_same(self):
        handles = await add.send_many_async({"x": n} for n in range(5))
        assert unwrapped(await gather_async(handles)) == [1, 2, 3, 4, 5]

    def test_gather_says_timeout_for_the_late(self):
        done, late = add.send(1), add.schedule(60, 2)
        first, second = gather([done, late])
        assert first == TaskResult(ok=2)
        assert second.err_value.error_code is RetrievalErrorCode.WAIT_TIMEOUT

    def test_gather_gives_errors_in_their_place(self):
        ok, err = gather([add.send(1), fail.send()])
        assert (ok.is_ok(), err.err_value.error_code) == (True, "BOOM")

    def test_nothing_gathers_to_nothing(self):
        assert gather([]) == []
        assert list(as_completed([])) == []

    async def test_nothing_gathers_to_nothing_async(self):
        assert await gather_async([]) == []
        assert [handle async for handle in as_completed_async([])] == []

    def test_one_handle_twice_gives_its_result_twice(self):
        handle = add.send(1)
        assert unwrapped(gather([handle, app.handle(handle.task_id)])) == [2, 2]

    def test_what_gather_has_seen_is_kept_by_the_handles(self, sandbox):
        handle = add.send(1)
        gather([handle])
        sandbox.advance(days=31)
        assert handle.get() == TaskResult(ok=2)

    def test_what_a_handle_has_kept_is_gathered_from_it(self, sandbox):
        handle = add.send(1)
        handle.get()
        sandbox.advance(days=31)
        assert gather([handle]) == [TaskResult(ok=2)]

    def test_what_a_handle_has_kept_is_completed(self, sandbox):
        handle = add.send(1)
        handle.get()
        sandbox.advance(days=31)
        (completed,) = as_completed([handle])
        assert completed.get() == TaskResult(ok=2)

    def test_as_completed_gives_each_handle_once(self):
        handles = add.send_many({"x": n} for n in range(5))
        assert set(as_completed(handles)) == set(handles)

    def test_as_completed_gives_them_in_the_order_of_their_ends(self, sandbox):
        handles = [add.schedule((n * 7) % 20, n) for n in range(20)]
        sandbox.advance(minutes=1)
        assert [handle.get().unwrap() - 1 for handle in as_completed(handles)] == runs

    def test_as_completed_leaves_out_the_late(self):
        done, late = add.send(1), add.schedule(60, 2)
        assert list(as_completed([done, late], timeout_ms=5)) == [done]

    def test_as_completed_may_be_left_early(self):
        for _ in as_completed(add.send_many({"x": n} for n in range(3))):
            break
        assert add.send(9).get() == TaskResult(ok=10)

    def test_tasks_may_be_sent_while_others_complete(self):
        completing = as_completed(add.send_many({"x": n} for n in range(3)))
        seen = [add.send(handle.get().unwrap()).get().unwrap() for handle in completing]
        assert sorted(seen) == [2, 3, 4]

    async def test_as_completed_async_gives_each_handle_once(self):
        handles = await add.send_many_async({"x": n} for n in range(5))
        assert {handle async for handle in as_completed_async(handles)} == set(handles)

    async def test_as_completed_async_gives_the_quick_before_the_slow(self):
        @app.task("nap")
        async def nap(seconds: float) -> TaskResult[float, TaskError]:
            await asyncio.sleep(seconds)
            return TaskResult(ok=seconds)

        slow, quick = await nap.send_async(0.05), await nap.send_async(0.0)
        in_background = asyncio.create_task(slow.get_async())
        await asyncio.sleep(0.001)
        order = [handle async for handle in as_completed_async([slow, quick])]
        await in_background
        assert order == [quick, slow]

    def test_handles_of_two_apps_cannot_be_gathered_together(self):
        with handle_of_another_app() as other:
            with pytest.raises(ValueError, match="different apps or sandboxes"):
                gather([add.send(1), other])
            with pytest.raises(ValueError, match="different apps or sandboxes"):
                list(as_completed([add.send(1), other]))


@contextmanager
def handle_of_another_app() -> Iterator[TaskHandle[int]]:
    other = Horsies()

    @other.task("one")
    def one() -> TaskResult[int, TaskError]:
        return TaskResult(ok=1)

    with other.testing():
        yield one.send()
