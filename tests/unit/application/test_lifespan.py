"""The life of an app where its tasks run, in sandboxes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from horsies import Horsies, TaskError, TaskResult, TaskStatus, current_task

app = Horsies()
events: list[str] = []
broken: list[Exception] = []


@app.lifespan
async def lifespan() -> AsyncIterator[dict[str, object]]:
    if broken:
        raise broken[0]
    events.append("enter")
    entered_by = asyncio.current_task()
    yield {"loop": asyncio.get_running_loop()}
    assert asyncio.current_task() is entered_by
    await asyncio.sleep(0)
    events.append("leave")


@app.task("look")
def look() -> TaskResult[bool, TaskError]:
    return TaskResult(ok=current_task().state is not None)


@app.task("look_async")
async def look_async() -> TaskResult[bool, TaskError]:
    return TaskResult(ok=current_task().state["loop"] is asyncio.get_running_loop())


@pytest.fixture(autouse=True)
def nothing_yet():
    events.clear()
    broken.clear()


def test_it_is_entered_with_the_first_task_and_left_with_the_sandbox():
    with app.testing():
        handles = [look.send(), look_async.send(), look.send()]
        assert events == []
        assert [handle.get().unwrap() for handle in handles] == [True, True, True]
        assert events == ["enter"]
    assert events == ["enter", "leave"]


def test_a_sandbox_that_runs_nothing_does_not_enter_it():
    with app.testing():
        look.send()
    assert events == []


def test_each_sandbox_has_its_own():
    for _ in range(2):
        with app.testing():
            look.send().get().unwrap()
    assert events == ["enter", "leave"] * 2


def test_async_tests_have_it_on_their_own_loop():
    async def test() -> None:
        with app.testing() as sandbox:
            handle = await look_async.send_async()
            await look.send_async()
            await sandbox.drain_async()
            assert (await handle.get_async()).unwrap()

    asyncio.run(test())
    assert events == ["enter", "leave"]


async def test_many_at_once_enter_it_once():
    with app.testing():
        handles = [await look_async.send_async() for _ in range(5)]
        await asyncio.gather(*(handle.get_async() for handle in handles))
    assert events == ["enter"]


def test_one_that_fails_is_told_and_leaves_the_task_waiting():
    broken.append(ConnectionError("no cache"))
    with app.testing() as sandbox:
        handle = look.send()
        with pytest.raises(ConnectionError, match="no cache"):
            sandbox.drain()
        with pytest.raises(ConnectionError, match="no cache"):
            sandbox.drain()
        assert handle.info().attempt == 0
        assert handle.info().status is TaskStatus.PENDING


def test_there_is_one_for_an_app():
    with pytest.raises(ValueError, match="the second one of this app"):
        app.lifespan(lifespan)
