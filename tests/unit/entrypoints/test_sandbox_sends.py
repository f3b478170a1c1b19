"""The sandbox: what was sent, what an outage does, and where a block ends."""

import contextlib
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from horsies import (
    BrokerError,
    ConfigurationError,
    Horsies,
    TaskError,
    TaskResult,
    TaskSendError,
    gather,
)
from horsies.testing import Sandbox
from tests.unit.entrypoints.sandbox_tasks import (
    app,
    count_down,
    fresh_sandbox,
    greet,
    here,
    note,
    note_async,
    noted,
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with fresh_sandbox() as sandbox:
        yield sandbox


class TestSent:
    def test_sends_are_told_oldest_first(self, sandbox):
        note.send(1)
        count_down.send(0)
        note.with_options(priority=3).schedule(9, 2)
        assert [sent.name for sent in sandbox.sent()] == ["note", "count_down", "note"]
        last = sandbox.sent(note)[-1]
        assert (last.arguments, last.priority, last.delay) == ({"n": 2}, 3, timedelta(seconds=9))

    def test_a_task_may_be_given_by_name(self, sandbox):
        note.send(1)
        assert sandbox.sent("note") == sandbox.sent(note)

    def test_a_name_that_no_task_has_is_a_mistake(self, sandbox):
        with pytest.raises(ValueError, match="there is no task named 'nope'"):
            sandbox.assert_not_sent("nope")

    def test_a_parameter_that_the_task_has_not_is_a_mistake(self, sandbox):
        with pytest.raises(ValueError, match="task 'note' has no parameter 'm'"):
            sandbox.assert_not_sent(note, m=1)

    def test_retries_by_hand_are_sends_too(self, sandbox):
        handle = note.send(1)
        handle.get()
        handle.retry()
        assert len(sandbox.sent(note)) == 2

    def test_what_tasks_send_is_told_too(self, sandbox):
        count_down.send(2)
        sandbox.drain()
        assert len(sandbox.sent(count_down)) == 3

    def test_assert_sent_gives_the_latest_that_fits(self, sandbox):
        note.send(1)
        second = note.send(1)
        note.send(2)
        assert sandbox.assert_sent(note, n=1).task_id == second.task_id
        assert sandbox.assert_sent(note).arguments == {"n": 2}

    def test_assert_sent_tells_what_was_sent_instead(self, sandbox):
        note.send(1)
        note.send(n=2)
        with pytest.raises(AssertionError) as caught:
            sandbox.assert_sent(note, n=3)
        assert str(caught.value) == (
            "<task 'note'> was not sent with (n=3); it was sent with:\n  - n=1\n  - n=2"
        )

    def test_assert_sent_tells_that_nothing_was_sent(self, sandbox):
        with pytest.raises(AssertionError, match=r"'note'> was not sent .*not sent at all"):
            sandbox.assert_sent(note)

    def test_assert_sent_knows_tasks_without_arguments(self, sandbox):
        greet.send()
        with pytest.raises(AssertionError, match="  - no arguments"):
            sandbox.assert_sent(greet, name="ada")

    def test_assert_not_sent_passes_where_nothing_fits(self, sandbox):
        note.send(1)
        sandbox.assert_not_sent(note, n=2)
        sandbox.assert_not_sent(count_down)

    def test_assert_not_sent_names_what_it_found(self, sandbox):
        note.send(1)
        with pytest.raises(AssertionError) as caught:
            sandbox.assert_not_sent(note, n=1)
        assert str(caught.value) == "<task 'note'> was sent all the same, with:\n  - n=1"

    def test_a_refused_send_was_not_sent(self, sandbox):
        with pytest.raises(TaskSendError):
            note.send("one")  # pyright: ignore[reportArgumentType] - the fault under test
        sandbox.assert_not_sent(note)

    def test_a_repeated_key_was_sent_once(self, sandbox):
        for _ in range(2):
            note.with_options(idempotency_key="k").send(1)
        assert len(sandbox.sent()) == 1


class TestOutage:
    def test_sends_fail_inside_and_work_afterwards(self, sandbox):
        with sandbox.outage(), pytest.raises(TaskSendError, match="ENQUEUE_FAILED") as caught:
            note.send(1)
        assert caught.value.retryable
        assert note.send(1).get().unwrap() == 1

    def test_an_outage_ends_also_with_an_exception(self, sandbox):
        with pytest.raises(KeyError), sandbox.outage():
            raise KeyError
        note.send(1)

    def test_an_outage_within_an_outage_does_not_end_it(self, sandbox):
        with sandbox.outage():
            with sandbox.outage():
                pass
            with pytest.raises(TaskSendError):
                note.send(1)

    def test_a_task_that_cannot_send_fails_with_the_reason(self, sandbox):
        @app.task("unlucky")
        def unlucky() -> TaskResult[None, TaskError]:
            with sandbox.outage():
                note.send(1)
            return TaskResult(ok=None)

        assert "ENQUEUE_FAILED" in unlucky.send().get().err_value.message

    def test_reading_fails_too_and_is_not_kept(self, sandbox):
        handle = note.send(1)
        with sandbox.outage():
            assert handle.get().err_value.error_code == "BROKER_ERROR"
            with pytest.raises(BrokerError, match="outage"):
                handle.info()
            with pytest.raises(BrokerError, match="outage"):
                handle.cancel()
        assert handle.get().unwrap() == 1

    def test_waiting_for_many_gives_the_same_error_for_each(self, sandbox):
        handles = [note.send(1), note.send(2)]
        with sandbox.outage():
            codes = [result.err_value.error_code for result in gather(handles)]
        assert codes == ["BROKER_ERROR"] * 2

    def test_a_task_that_has_run_when_the_outage_began_is_settled_afterwards(self, sandbox):
        outage = sandbox.outage()

        @app.task("trips_the_wire")
        def trips_the_wire() -> TaskResult[int, TaskError]:
            outage.__enter__()
            return TaskResult(ok=7)

        handle = trips_the_wire.send()
        with contextlib.suppress(BrokerError):
            sandbox.drain()
        outage.__exit__(None, None, None)
        assert handle.get() == TaskResult(ok=7)


class TestBlocks:
    @pytest.mark.usefixtures("no_database")
    def test_outside_there_is_no_queue(self):
        with app.testing():
            pass
        with pytest.raises(ConfigurationError, match="HRS-203"):
            note.send(1)

    @pytest.mark.usefixtures("no_database")
    def test_an_exception_inside_closes_the_block(self):
        with pytest.raises(KeyError), app.testing():
            raise KeyError
        with pytest.raises(ConfigurationError, match="HRS-203"):
            note.send(1)

    def test_blocks_share_nothing(self, sandbox):
        note.send(1)
        with app.testing() as inner:
            assert inner.sent() == []
            assert inner.drain() == 0
            here[0] = inner
            note.send(2)
            assert inner.drain() == 1
        here[0] = sandbox
        assert [sent.arguments for sent in sandbox.sent()] == [{"n": 1}]
        assert sandbox.drain() == 1
        assert noted() == [2, 1]

    @pytest.mark.usefixtures("sandbox")
    def test_a_handle_stays_with_the_block_it_was_made_in(self):
        outer = note.send(1)
        with app.testing():
            assert outer.get().unwrap() == 1

    def test_two_apps_have_sandboxes_of_their_own(self, sandbox):
        other = Horsies()

        @other.task("note")
        def shout() -> TaskResult[str, TaskError]:
            return TaskResult(ok="HEY")

        with other.testing():
            assert shout.send().get().unwrap() == "HEY"
        assert sandbox.sent() == []

    def test_no_thread_is_left_behind(self):
        before = set(threading.enumerate())
        with app.testing() as sandbox:
            here[:] = [sandbox]
            note_async.send(1)
            sandbox.drain()
        for thread in set(threading.enumerate()) - before:
            thread.join(timeout=30)
        assert set(threading.enumerate()) <= before
