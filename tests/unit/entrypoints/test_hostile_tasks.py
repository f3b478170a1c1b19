"""Whatever a task does, a result comes of it, and the queue goes on."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from zoneinfo import ZoneInfo

import pytest

from horsies import (
    Horsies,
    Ok,
    OperationalErrorCode,
    RetryPolicy,
    TaskError,
    TaskResult,
    TaskSendError,
    TaskStatus,
)


class Private(BaseException):
    pass


class NoHash(type):
    __hash__ = None


class Unhashable(Exception, metaclass=NoHash):  # noqa: N818
    pass


class FightsIsinstance(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("no")


class Fighting(Exception, metaclass=FightsIsinstance):  # noqa: N818
    pass


class Half(TaskError):  # noqa: N818 - a value, not an exception
    def __init__(self) -> None:
        pass


class Unspeakable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError

    @property
    def __notes__(self) -> list[str]:
        raise ValueError


HOSTILE = [
    Private("x"),
    asyncio.CancelledError(),
    SyntaxError("m", ("f.py", 1, "off", "text")),
    Unhashable("x"),
    Fighting("x"),
    Unspeakable(),
    SystemExit(3),
    RecursionError(),
    ExceptionGroup("many", [ValueError("a"), Unspeakable()]),
]


def make_app() -> Horsies:
    return Horsies()


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("exception", HOSTILE, ids=lambda exception: type(exception).__name__)
def test_whatever_a_task_raises_is_its_result(exception, is_async):
    app = make_app()
    options = {"exception_mapper": {ValueError: "V"}, "retry_policy": RetryPolicy.fixed([1])}

    if is_async:

        @app.task("raises", **options)
        async def raises() -> TaskResult[int, TaskError]:
            raise exception

    else:

        @app.task("raises", **options)
        def raises() -> TaskResult[int, TaskError]:
            raise exception

    with app.testing() as sandbox:
        handle = raises.send()
        sandbox.advance(seconds=5)
        result, info = handle.get(), handle.info()
    assert result.err_value.error_code is OperationalErrorCode.UNHANDLED_EXCEPTION
    assert type(exception).__name__ in str(result.err_value)
    assert info.status is TaskStatus.FAILED


def test_a_half_made_error_is_a_mismatch():
    app = make_app()

    @app.task("half")
    def half() -> TaskResult[int, TaskError]:
        return TaskResult(err=Half())

    with app.testing():
        assert half.send().get().err_value.error_code == "RETURN_TYPE_MISMATCH"


@dataclass
class Guarded:
    when: datetime

    def __getattr__(self, name: str) -> object:
        raise KeyError(name)


def test_an_object_that_cannot_be_looked_into_is_refused_and_stored_as_an_error():
    app = make_app()
    value = Guarded(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2, seconds=1))))

    @app.task("guard")
    def guard(value: Guarded) -> TaskResult[Guarded, TaskError]:
        return TaskResult(ok=value)

    assert guard(value).err_value.error_code == "WORKER_SERIALIZATION_ERROR"
    with app.testing(), pytest.raises(TaskSendError, match="VALIDATION_FAILED"):
        guard.send(value)


class Poisoned(Enum):
    NUL = "x\0y"


def test_a_nul_inside_an_enum_is_refused():
    app = make_app()

    @app.task("poisoned")
    def poisoned(value: Poisoned) -> TaskResult[Poisoned, TaskError]:
        return TaskResult(ok=value)

    assert poisoned(Poisoned.NUL).err_value.error_code == "WORKER_SERIALIZATION_ERROR"
    with app.testing(), pytest.raises(TaskSendError, match="NUL"):
        poisoned.send(Poisoned.NUL)


def test_a_drain_that_is_interrupted_ends_the_run_it_left():
    app = make_app()

    @app.task("stop")
    def stop() -> TaskResult[None, TaskError]:
        raise KeyboardInterrupt

    with app.testing() as sandbox:
        handle = stop.send()
        with pytest.raises(KeyboardInterrupt):
            sandbox.drain()
        assert handle.get().err_value.error_code is OperationalErrorCode.WORKER_SHUTDOWN


def test_instants_are_compared_in_utc_where_clocks_change():
    app, berlin, runs = make_app(), ZoneInfo("Europe/Berlin"), []

    @app.task("note")
    def note(n: int) -> TaskResult[None, TaskError]:
        runs.append((n, sandbox.now.strftime("%H:%M")))
        return TaskResult(ok=None)

    with app.testing(datetime(2025, 10, 26, tzinfo=UTC)) as sandbox:
        note.with_options(eta=datetime(2025, 10, 26, 2, 30, tzinfo=berlin)).send(1)
        note.with_options(
            eta=datetime(2025, 10, 26, 2, 30, tzinfo=berlin),
            good_until=datetime(2025, 10, 26, 2, 15, fold=1, tzinfo=berlin),
        ).send(2)
        note.with_options(eta=datetime(2025, 10, 26, 2, 15, fold=1, tzinfo=berlin)).send(3)
        sandbox.advance(hours=2)
    assert runs == [(1, "00:30"), (2, "00:30"), (3, "01:15")]


@pytest.mark.parametrize("option", ["timeout_ms", "result_ttl_ms", "priority", "delay"])
@pytest.mark.parametrize(
    "value", [10**20, 10**5000, float("nan"), True], ids=["large", "huge", "nan", "bool"]
)
def test_absurd_numbers_are_refused(option, value):
    app = make_app()

    @app.task("plain")
    def plain() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    with app.testing(), pytest.raises(TaskSendError, match="VALIDATION_FAILED"):
        plain.with_options(**{option: value}).send()


@pytest.mark.parametrize(
    ("eta", "fits"),
    [
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))), False),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=12))), True),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=-12))), True),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=12))), False),
    ],
)
def test_an_instant_that_utc_does_not_have_is_refused(eta, fits):
    app = make_app()

    @app.task("plain")
    def plain() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    with app.testing():
        sent = plain.with_options(eta=eta).try_send()
    assert isinstance(sent, Ok) == fits


def test_blocks_of_testing_may_end_in_any_order():
    app = make_app()

    @app.task("plain")
    def plain() -> TaskResult[int, TaskError]:
        return TaskResult(ok=1)

    first, second = app.testing(), app.testing()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert plain.send().get().unwrap() == 1
    second.__exit__(None, None, None)


def test_arguments_are_in_no_repr_and_no_message():
    app, canary = make_app(), "canary-7f3a"

    @app.task("secretive")
    def secretive(text: str, number: int = 0) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)

    with app.testing() as sandbox:
        handle = secretive.send(canary)
        seen = [repr(handle), repr(handle.info()), repr(secretive.call(canary))]
        with sandbox.outage(), pytest.raises(TaskSendError) as outage:
            secretive.send(canary)
        with pytest.raises(TaskSendError) as unfit:
            secretive.send(canary, number=canary)
    seen += [repr(outage.value), str(outage.value), repr(unfit.value), str(unfit.value)]
    assert not [text for text in seen if canary in text]
