"""The facade: every verb of sending, thrown or returned, and calling in process."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from horsies import (
    AppConfig,
    CustomQueueConfig,
    Err,
    Horsies,
    Ok,
    OperationalErrorCode,
    QueueMode,
    SendErrorCode,
    TaskError,
    TaskHandle,
    TaskResult,
    TaskSendError,
)
from horsies.testing import Sandbox

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

app = Horsies(
    AppConfig(
        queue_mode=QueueMode.CUSTOM,
        custom_queues=[CustomQueueConfig("default"), CustomQueueConfig("narrow", max_pending=2)],
    )
)


@app.task("add")
def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


@app.task("double")
async def double(x: int) -> TaskResult[int, TaskError]:
    await asyncio.sleep(0)
    return TaskResult(ok=x * 2)


@app.task("wait")
def wait(delay: int, eta: str = "soon") -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"{delay} {eta}")


@app.task("explode", default_unhandled_error_code="BANG")
def explode() -> TaskResult[int, TaskError]:
    raise ValueError("bang")


@app.task("explode_async", exception_mapper={ValueError: "BANG"})
async def explode_async() -> TaskResult[int, TaskError]:
    raise ValueError("bang")


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with app.testing(START) as sandbox:
        yield sandbox


@pytest.mark.usefixtures("sandbox")
class TestSend:
    def test_a_send_gives_the_handle_of_a_queued_task(self, sandbox):
        handle = add.send(1, y=2)
        assert isinstance(handle, TaskHandle)
        assert sandbox.assert_sent(add, x=1, y=2).task_id == handle.task_id
        assert handle.get() == TaskResult(ok=3)

    async def test_an_async_send_does_the_same(self):
        handle = await add.send_async(1, y=2)
        assert await handle.get_async() == TaskResult(ok=3)

    def test_what_goes_wrong_is_thrown(self):
        with pytest.raises(TaskSendError) as caught:
            add.send("one")  # pyright: ignore[reportArgumentType] - the fault under test
        error = caught.value
        assert (error.code, error.retryable) == (SendErrorCode.VALIDATION_FAILED, False)
        assert (
            str(error) == "VALIDATION_FAILED: task 'add': argument 'x': Expected `int`, got `str`"
        )

    async def test_what_goes_wrong_is_thrown_by_the_async_verb_too(self):
        with pytest.raises(TaskSendError, match="VALIDATION_FAILED"):
            await add.send_async()  # pyright: ignore[reportCallIssue] - the fault under test

    def test_a_message_never_quotes_an_argument(self):
        with pytest.raises(TaskSendError) as caught:
            add.send("hunter2")  # pyright: ignore[reportArgumentType] - the fault under test
        assert "hunter2" not in str(caught.value)

    def test_nobody_can_forget_to_look_at_a_refusal(self, sandbox):
        with sandbox.outage(), pytest.raises(TaskSendError, match="ENQUEUE_FAILED"):
            add.send(1)


@pytest.mark.usefixtures("sandbox")
class TestTrySend:
    def test_a_success_is_ok(self):
        match add.try_send(1):
            case Ok(handle):
                assert handle.get().unwrap() == 2
            case Err(error):
                raise error

    def test_a_refusal_is_err(self):
        match add.try_send("one"):  # pyright: ignore[reportArgumentType] - the fault under test
            case Err(error):
                assert error.code is SendErrorCode.VALIDATION_FAILED
            case Ok():
                pytest.fail("it was sent")

    async def test_the_async_verb_does_the_same(self, sandbox):
        assert isinstance(await add.try_send_async(1), Ok)
        with sandbox.outage():
            assert isinstance(await add.try_send_async(1), Err)


@pytest.mark.usefixtures("sandbox")
class TestSchedule:
    @pytest.mark.parametrize("delay", [90, timedelta(seconds=90)])
    def test_a_scheduled_task_runs_after_its_delay(self, sandbox, delay):
        handle = add.schedule(delay, 1)
        sandbox.advance(seconds=89)
        assert handle.info().status == "PENDING"
        sandbox.advance(seconds=1)
        assert handle.info().started_at == START + timedelta(seconds=90)

    async def test_the_async_verb_does_the_same(self, sandbox):
        await add.schedule_async(90, 1)
        assert sandbox.assert_sent(add, x=1).delay == timedelta(seconds=90)

    def test_a_parameter_named_delay_is_the_task_s_own(self):
        assert wait.schedule(0, delay=7, eta="now").get().unwrap() == "7 now"

    def test_a_negative_delay_is_refused(self):
        with pytest.raises(TaskSendError, match="not -1"):
            add.schedule(-1, 1)

    def test_a_delay_and_an_eta_exclude_each_other(self):
        with pytest.raises(TaskSendError, match="delay and eta exclude each other"):
            add.with_options(eta=START).schedule(1, 1)


@pytest.mark.usefixtures("sandbox")
class TestSendMany:
    def test_calls_and_mappings_are_sent_in_order(self):
        handles = add.send_many([add.call(1), {"x": 2}, add.call(3, y=4)])
        assert [handle.get().unwrap() for handle in handles] == [2, 3, 7]

    def test_any_iterable_will_do(self):
        assert len(add.send_many({"x": n} for n in range(3))) == 3

    def test_nothing_to_send_is_no_error(self):
        assert add.send_many([]) == []

    async def test_the_async_verb_does_the_same(self):
        assert len(await add.send_many_async([add.call(1), {"x": 2}])) == 2

    def test_it_is_all_or_none(self, sandbox):
        with pytest.raises(TaskSendError, match="VALIDATION_FAILED"):
            add.send_many([{"x": 1}, {"x": "two"}])
        assert sandbox.sent() == []

    def test_a_full_queue_takes_none(self, sandbox):
        narrow = add.with_options(queue="narrow")
        with pytest.raises(TaskSendError, match="QUEUE_FULL"):
            narrow.send_many([{"x": n} for n in range(3)])
        assert sandbox.sent() == []
        assert len(narrow.send_many([{"x": n} for n in range(2)])) == 2

    def test_a_call_of_another_task_is_refused(self):
        with pytest.raises(ValueError, match="this is a call of 'wait', not of 'add'"):
            add.send_many([wait.call(1)])  # pyright: ignore[reportArgumentType] - under test

    @pytest.mark.parametrize("call", [5, (1, 2), "x"])
    def test_anything_else_is_a_type_error(self, call):
        with pytest.raises(TypeError, match=r"takes task\.call\(\.\.\.\) or a mapping"):
            add.send_many([call])


@pytest.mark.usefixtures("sandbox")
class TestWithOptions:
    def test_options_go_with_the_send_and_leave_the_task_as_it_was(self, sandbox):
        add.with_options(queue="narrow", priority=3).send(1)
        add.send(1)
        urgent, plain = sandbox.sent()
        assert (urgent.queue, urgent.priority) == ("narrow", 3)
        assert (plain.queue, plain.priority) == ("default", 50)

    def test_options_add_up(self, sandbox):
        add.with_options(priority=3, delay=5).with_options(queue="narrow", delay=9).send(1)
        (sent,) = sandbox.sent()
        assert (sent.priority, sent.queue, sent.delay) == (3, "narrow", timedelta(seconds=9))

    def test_they_are_checked_when_something_is_sent(self):
        sender = add.with_options(priority=0, queue="nowhere")
        with pytest.raises(TaskSendError) as caught:
            sender.send(1)
        assert "there is no queue 'nowhere'" in str(caught.value)
        assert "priority must be a whole number" in str(caught.value)

    def test_an_idempotency_key_gives_the_same_handle(self):
        sender = add.with_options(idempotency_key="order-7")
        assert sender.send(1) == sender.send(1)
        with pytest.raises(TaskSendError, match="IDEMPOTENCY_CONFLICT"):
            sender.send(2)

    def test_tasks_of_lower_number_run_first(self, sandbox):
        order = []

        @app.task("note")
        def note(text: str) -> TaskResult[None, TaskError]:
            order.append(text)
            return TaskResult(ok=None)

        note.send("later")
        note.with_options(priority=1).send("first")
        sandbox.drain()
        assert order == ["first", "later"]

    def test_a_task_past_its_good_until_expires_unrun(self, sandbox):
        handle = add.with_options(good_until=START + timedelta(minutes=1)).schedule(120, 1)
        sandbox.advance(minutes=3)
        assert handle.get().err_value.error_code == "TASK_EXPIRED"


@pytest.mark.usefixtures("sandbox")
class TestSuppression:
    def test_suppressed_sends_are_refused_until_they_are_allowed_again(self):
        app.suppress_sends(suppressed=True)
        try:
            with pytest.raises(TaskSendError, match="SEND_SUPPRESSED"):
                add.send(1)
        finally:
            app.suppress_sends(suppressed=False)
        assert add.send(1).get().unwrap() == 2

    def test_a_replay_is_a_send_too(self, sandbox):
        with sandbox.outage():
            error = add.try_send(1).failure()
        app.suppress_sends(suppressed=True)
        try:
            with pytest.raises(TaskSendError, match="SEND_SUPPRESSED"):
                add.retry_send(error)
        finally:
            app.suppress_sends(suppressed=False)


@pytest.mark.usefixtures("sandbox")
class TestCallingInProcess:
    def test_a_call_runs_here_and_needs_no_queue(self):
        assert add(1, y=4) == TaskResult(ok=5)

    async def test_so_does_an_async_one(self):
        assert await double(4) == TaskResult(ok=8)

    def test_exceptions_become_errors_as_in_a_worker(self):
        error = explode().err_value
        assert (error.error_code, error.message) == ("BANG", "bang")
        assert error.exception.type == "builtins.ValueError"

    def test_wrong_arguments_are_the_caller_s_fault(self):
        with pytest.raises(TypeError, match="missing a required argument: 'x'"):
            add()  # pyright: ignore[reportCallIssue] - the fault under test

    async def test_wrong_arguments_of_an_async_one_are_the_caller_s_fault(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            await double(1, z=2)  # pyright: ignore[reportCallIssue] - the fault under test

    def test_a_value_of_another_type_is_found_as_in_a_worker(self):
        @app.task("liar")
        def liar() -> TaskResult[int, TaskError]:
            return TaskResult(ok="text")  # pyright: ignore[reportReturnType] - the fault under test

        assert liar().err_value.error_code == "RETURN_TYPE_MISMATCH"

    @pytest.mark.parametrize("text", ["half a pair \udcff", "NUL \0 inside"])
    def test_an_exception_with_an_illegible_text_keeps_its_code(self, text):
        @app.task(f"illegible_{len(text)}", default_unhandled_error_code="DISK")
        def illegible() -> TaskResult[int, TaskError]:
            raise OSError(text)

        assert illegible().err_value.error_code == "DISK"

    def test_an_error_whose_data_cannot_travel_keeps_its_code(self):
        @app.task("unfit_data")
        def unfit_data() -> TaskResult[int, TaskError]:
            return TaskResult(err=TaskError("BOOM", data=object()))

        assert unfit_data().err_value.error_code == "BOOM"

    async def test_so_do_those_of_an_async_one(self):
        assert (await explode_async()).err_value.error_code == "BANG"

    def test_a_call_and_a_run_give_the_same_error(self):
        called, ran = explode().err_value, explode.send().get().err_value
        assert (called.error_code, called.message) == (ran.error_code, ran.message)
        assert called.exception.traceback == ran.exception.traceback


def test_an_async_task_runs_for_a_caller_that_is_not_async(sandbox):
    assert double.send(4).get() == TaskResult(ok=8)


def test_a_failed_task_gives_its_error(sandbox):
    error = explode.send().get().err_value
    assert error.error_code == "BANG"
    assert error.error_code is not OperationalErrorCode.UNHANDLED_EXCEPTION
