"""Tasks that wait for tasks, tests that wait for many, on one loop, on several threads."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from horsies import (
    Horsies,
    RetrievalErrorCode,
    RetryPolicy,
    TaskError,
    TaskResult,
    TaskStatus,
    gather,
    gather_async,
)
from horsies.testing import Sandbox

app = Horsies()


@app.task("leaf")
def leaf(n: int) -> TaskResult[int, TaskError]:
    return TaskResult(ok=n + 1)


@app.task("leaf_async")
async def leaf_async(n: int) -> TaskResult[int, TaskError]:
    await asyncio.sleep(0.001)
    return TaskResult(ok=n + 1)


@app.task("sync_waits_for_sync")
def sync_waits_for_sync(n: int) -> TaskResult[int, TaskError]:
    return leaf.send(n).get()


@app.task("sync_waits_for_async")
def sync_waits_for_async(n: int) -> TaskResult[int, TaskError]:
    return leaf_async.send(n).get()


@app.task("async_waits_for_sync")
async def async_waits_for_sync(n: int) -> TaskResult[int, TaskError]:
    return await (await leaf.send_async(n)).get_async()


@app.task("async_waits_for_async")
async def async_waits_for_async(n: int) -> TaskResult[int, TaskError]:
    return await (await leaf_async.send_async(n)).get_async()


@app.task("async_waits_for_many")
async def async_waits_for_many(n: int) -> TaskResult[int, TaskError]:
    handles = await leaf_async.send_many_async({"n": k} for k in range(n))
    return TaskResult(ok=sum(result.unwrap() for result in await gather_async(handles)))


@app.task("sync_waits_for_many")
def sync_waits_for_many(n: int) -> TaskResult[int, TaskError]:
    results = gather(leaf.send_many({"n": k} for k in range(n)))
    return TaskResult(ok=sum(result.unwrap() for result in results))


@app.task("depth")
def depth(n: int) -> TaskResult[int, TaskError]:
    if n == 0:
        return TaskResult(ok=0)
    return depth.send(n - 1).get().map(lambda below: below + 1)


@app.task("depth_async")
async def depth_async(n: int) -> TaskResult[int, TaskError]:
    if n == 0:
        return TaskResult(ok=0)
    below = await (await depth_async.send_async(n - 1)).get_async()
    return below.map(lambda value: value + 1)


@app.task("flaky", retry_policy=RetryPolicy.fixed([60]))
async def flaky() -> TaskResult[int, TaskError]:
    await asyncio.sleep(0.01)
    raise ConnectionError("no answer")


@app.task("slow")
async def slow() -> TaskResult[int, TaskError]:
    await asyncio.sleep(0.01)
    return TaskResult(ok=1)


WAITING = [
    sync_waits_for_sync,
    sync_waits_for_async,
    async_waits_for_sync,
    async_waits_for_async,
]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with app.testing() as sandbox:
        yield sandbox


@pytest.mark.parametrize("task", WAITING, ids=lambda task: task.name)
def test_a_task_may_wait_for_another_when_nobody_is_async(sandbox, task):
    assert task.send(1).get() == TaskResult(ok=2)


@pytest.mark.parametrize("task", WAITING, ids=lambda task: task.name)
async def test_a_task_may_wait_for_another_on_the_test_s_loop(sandbox, task):
    assert await (await task.send_async(1)).get_async() == TaskResult(ok=2)


@pytest.mark.parametrize("task", WAITING, ids=lambda task: task.name)
async def test_a_task_may_wait_for_another_in_a_plain_get_inside_a_loop(sandbox, task):
    assert task.send(1).get() == TaskResult(ok=2)


@pytest.mark.parametrize("task", WAITING, ids=lambda task: task.name)
def test_a_task_that_waits_for_another_can_be_drained(sandbox, task):
    handle = task.send(1)
    sandbox.drain()
    assert handle.info().status is TaskStatus.COMPLETED


def test_a_task_may_wait_for_many(sandbox):
    assert sync_waits_for_many.send(5).get().unwrap() == 15


def test_an_async_task_may_wait_for_many_when_nobody_is_async(sandbox):
    assert async_waits_for_many.send(5).get().unwrap() == 15


async def test_an_async_task_may_wait_for_many_on_the_test_s_loop(sandbox):
    assert (await (await async_waits_for_many.send_async(5)).get_async()).unwrap() == 15


def test_waiting_may_go_deep(sandbox):
    assert depth.send(15).get().unwrap() == 15


async def test_waiting_may_go_deep_on_a_loop(sandbox):
    assert (await (await depth_async.send_async(15)).get_async()).unwrap() == 15


async def test_a_plain_get_in_an_async_task_says_what_to_do_or_works(sandbox):
    @app.task("blocking")
    async def blocking(n: int) -> TaskResult[int, TaskError]:
        return leaf_async.send(n).get()

    result = await (await blocking.send_async(1)).get_async()
    assert result == TaskResult(ok=2) or "await the _async form" in str(result.err_value)


async def test_many_waiters_on_one_loop_all_get_their_results(sandbox):
    handles = [await leaf_async.send_async(n) for n in range(20)]
    results = await asyncio.gather(*(handle.get_async() for handle in handles))
    assert [result.unwrap() for result in results] == list(range(1, 21))


async def test_many_waiters_for_one_task_all_get_its_result(sandbox):
    handle = await slow.send_async()
    results = await asyncio.gather(*(handle.get_async() for _ in range(20)))
    assert set(map(str, results)) == {"TaskResult(ok=1)"}


async def test_tasks_run_side_by_side_where_waiters_do(sandbox):
    running, most = 0, 0

    @app.task("side_by_side")
    async def side_by_side() -> TaskResult[None, TaskError]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return TaskResult(ok=None)

    handles = [await side_by_side.send_async() for _ in range(3)]
    await asyncio.gather(*(handle.get_async() for handle in handles))
    assert most > 1


async def test_who_waits_for_what_is_not_due_does_not_wait_for_ever(sandbox):
    due, delayed = await slow.send_async(), await slow.schedule_async(3600)
    async with asyncio.timeout(30):
        done, late = await asyncio.gather(due.get_async(), delayed.get_async())
    assert done == TaskResult(ok=1)
    assert late.err_value.error_code is RetrievalErrorCode.WAIT_TIMEOUT


async def test_two_who_wait_for_a_task_that_will_be_retried_do_not_wait_for_ever(sandbox):
    handle = await flaky.send_async()
    async with asyncio.timeout(30):
        results = await asyncio.gather(handle.get_async(), handle.get_async())
    codes = {result.err_value.error_code for result in results}
    assert codes == {RetrievalErrorCode.WAIT_TIMEOUT}


async def test_tasks_that_all_wait_for_what_is_not_due_do_not_wait_for_one_another(sandbox):
    @app.task("waits_in_vain")
    async def waits_in_vain() -> TaskResult[str, TaskError]:
        await asyncio.sleep(0.01)  # until both have begun
        late = await (await leaf_async.schedule_async(3600, 1)).get_async()
        return TaskResult(ok=late.err_value.error_code)

    handles = await waits_in_vain.send_many_async([{}, {}])
    async with asyncio.timeout(30):
        results = await asyncio.gather(*(handle.get_async() for handle in handles))
    assert [result.unwrap() for result in results] == ["WAIT_TIMEOUT"] * 2


def test_threads_whose_tasks_wait_for_what_is_not_due_do_not_wait_for_one_another(sandbox):
    both = threading.Barrier(2, timeout=30)

    @app.task("blocks_in_vain")
    def blocks_in_vain() -> TaskResult[str, TaskError]:
        both.wait()
        late = leaf.schedule(3600, 1).get()
        return TaskResult(ok=late.err_value.error_code)

    handles = blocks_in_vain.send_many([{}, {}])
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda handle: handle.get(), handles, timeout=30))
    assert [result.unwrap() for result in results] == ["WAIT_TIMEOUT"] * 2


async def test_a_timeout_holds_while_others_are_at_work(sandbox):
    begun, over = asyncio.Event(), asyncio.Event()

    @app.task("long")
    async def long() -> TaskResult[None, TaskError]:
        begun.set()
        await over.wait()
        return TaskResult(ok=None)

    handle = await long.send_async()
    working = asyncio.create_task(handle.get_async())
    await begun.wait()
    late = await handle.get_async(timeout_ms=10)
    assert late.err_value.error_code is RetrievalErrorCode.WAIT_TIMEOUT
    over.set()
    assert (await working).is_ok()


def test_threads_take_turns(sandbox):
    def work(n: int) -> int:
        return leaf.send(n).get().unwrap() + leaf_async.send(n).get().unwrap()

    with ThreadPoolExecutor(8) as threads:
        totals = list(threads.map(work, range(40)))
    assert totals == [2 * n + 2 for n in range(40)]


def test_a_loop_on_another_thread_finds_its_results(sandbox):
    async def work(n: int) -> int:
        return (await (await leaf_async.send_async(n)).get_async()).unwrap()

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda n: asyncio.run(work(n)), range(12)))
    assert results == list(range(1, 13))


async def test_a_thread_and_a_loop_find_their_results(sandbox):
    handles = [await leaf_async.send_async(n) for n in range(10)]
    on_thread = [asyncio.to_thread(handle.get) for handle in handles[:5]]
    on_loop = [handle.get_async() for handle in handles[5:]]
    async with asyncio.timeout(30):
        results = await asyncio.gather(*on_thread, *on_loop)
    assert [result.unwrap() for result in results] == list(range(1, 11))


@pytest.mark.parametrize("look", ["get", "info", "cancel"])
def test_a_task_may_use_threads_that_look_at_tasks(sandbox, look):
    @app.task(f"threaded_{look}")
    def threaded() -> TaskResult[bool, TaskError]:
        handle = leaf.send(1)
        thread = threading.Thread(target=getattr(handle, look), daemon=True)
        thread.start()
        thread.join(timeout=30)
        return TaskResult(ok=not thread.is_alive())

    assert threaded.send().get() == TaskResult(ok=True)


def test_what_an_async_task_leaves_running_does_no_harm(sandbox):
    @app.task("forgetful")
    async def forgetful() -> TaskResult[None, TaskError]:
        forgetful.left = asyncio.create_task(asyncio.sleep(60))  # pyright: ignore[reportAttributeAccessIssue] - kept alive on purpose
        return TaskResult(ok=None)

    assert forgetful.send().get().is_ok()
