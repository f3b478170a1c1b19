"""What a type checker makes of sends. Checked by basedpyright, never run."""

from datetime import UTC, datetime, timedelta
from typing import assert_never, assert_type

from horsies import (
    Err,
    Horsies,
    Ok,
    Sender,
    TaskError,
    TaskHandle,
    TaskResult,
    TaskSendError,
)

app = Horsies()


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("shout")
async def shout(text: str) -> TaskResult[list[str], TaskError]:
    return TaskResult(ok=[text])


def a_send_gives_a_handle_of_the_task_s_value() -> None:
    assert_type(add.send(1), TaskHandle[int])
    assert_type(add.send(x=1, y=2), TaskHandle[int])
    assert_type(shout.send("a"), TaskHandle[list[str]])


async def so_does_an_async_one() -> None:
    assert_type(await add.send_async(1), TaskHandle[int])
    assert_type(await shout.send_async(text="a"), TaskHandle[list[str]])


def a_scheduled_send_takes_a_delay_first() -> None:
    assert_type(add.schedule(5, 1, y=2), TaskHandle[int])
    assert_type(add.schedule(timedelta(hours=1), 1), TaskHandle[int])


async def an_async_scheduled_one_too() -> None:
    assert_type(await shout.schedule_async(0.5, "a"), TaskHandle[list[str]])


def a_tried_send_can_be_matched_exhaustively() -> int:
    sent = add.try_send(1)
    assert_type(sent, Ok[TaskHandle[int]] | Err[TaskSendError])
    match sent:
        case Ok(handle):
            assert_type(handle, TaskHandle[int])
            return handle.get().unwrap()
        case Err(error):
            assert_type(error, TaskSendError)
            return 0
        case _:
            assert_never(sent)


def half_a_match_is_noticed() -> int:  # pyright: ignore[reportReturnType]
    match add.try_send(1):  # pyright: ignore[reportMatchNotExhaustive]
        case Ok(handle):
            return handle.get().unwrap()


async def an_async_tried_send_too() -> None:
    assert_type(await shout.try_send_async("a"), Ok[TaskHandle[list[str]]] | Err[TaskSendError])


def options_keep_the_signature() -> None:
    sender = add.with_options(
        queue="fast",
        priority=1,
        eta=datetime.now(UTC),
        good_until=datetime.now(UTC),
        timeout_ms=5,
        result_ttl_ms=5,
        idempotency_key="k",
        connection=object(),
    )
    as_sender: Sender[[int, int], int] = sender
    assert_type(as_sender.send(1, 2), TaskHandle[int])
    assert_type(sender.send(1), TaskHandle[int])
    assert_type(sender.schedule(5, 1), TaskHandle[int])
    assert_type(sender.try_send(1, y=3), Ok[TaskHandle[int]] | Err[TaskSendError])
    sender.send("one")  # pyright: ignore[reportArgumentType]
    add.with_options(priority="high")  # pyright: ignore[reportArgumentType]
    add.with_options(speed=9)  # pyright: ignore[reportCallIssue]


def many_calls_are_checked_one_by_one() -> None:
    assert_type(add.send_many([add.call(1), add.call(2, y=3)]), list[TaskHandle[int]])
    assert_type(add.send_many({"x": n} for n in range(3)), list[TaskHandle[int]])
    mixed = shout.send_many([shout.call("a"), {"text": "b"}])
    assert_type(mixed, list[TaskHandle[list[str]]])
    add.call("one")  # pyright: ignore[reportArgumentType]
    add.call()  # pyright: ignore[reportCallIssue]
    add.send_many([shout.call("a")])  # pyright: ignore[reportArgumentType]
    add.send_many([5])  # pyright: ignore[reportArgumentType]


async def many_async_calls_too() -> None:
    assert_type(await add.send_many_async([add.call(1)]), list[TaskHandle[int]])


def replays_give_the_same_handles(error: TaskSendError) -> None:
    assert_type(add.retry_send(error), TaskHandle[int])
    assert_type(add.retry_send_many(error), list[TaskHandle[int]])
    add.retry_send("error")  # pyright: ignore[reportArgumentType]


async def async_replays_too(error: TaskSendError) -> None:
    assert_type(await add.retry_send_async(error), TaskHandle[int])
    assert_type(await add.retry_send_many_async(error), list[TaskHandle[int]])


def arguments_that_do_not_fit_are_errors() -> None:
    add.send("one")  # pyright: ignore[reportArgumentType]
    add.send()  # pyright: ignore[reportCallIssue]
    add.send(1, 2, 3)  # pyright: ignore[reportCallIssue]
    add.send(1, z=2)  # pyright: ignore[reportCallIssue]
    add.try_send(None)  # pyright: ignore[reportArgumentType]
    add.schedule(1)  # pyright: ignore[reportCallIssue]
    add.schedule("soon", 1)  # pyright: ignore[reportArgumentType]
    shout.send(5)  # pyright: ignore[reportArgumentType]


async def async_arguments_that_do_not_fit_are_errors() -> None:
    await add.send_async("one")  # pyright: ignore[reportArgumentType]
    await shout.schedule_async(5)  # pyright: ignore[reportCallIssue]
