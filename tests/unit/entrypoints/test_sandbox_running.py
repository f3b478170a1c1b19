"""The sandbox: everything that is due runs, at its own instant, and nothing else does."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from horsies import (
    AppConfig,
    CustomQueueConfig,
    Horsies,
    QueueMode,
    TaskError,
    TaskResult,
    TaskStatus,
)
from horsies.testing import Sandbox
from tests.unit.entrypoints.sandbox_tasks import (
    START,
    app,
    count_down,
    every_minute,
    flaky,
    for_ever,
    fresh_sandbox,
    here,
    minutes,
    note,
    note_async,
    noted,
    runs,
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with fresh_sandbox() as sandbox:
        yield sandbox


@pytest.mark.usefixtures("sandbox")
class TestDrain:
    def test_nothing_runs_before_it_is_asked_for(self):
        note.send(1)
        assert runs == []

    def test_everything_due_runs_in_order(self, sandbox):
        for n in range(3):
            note.send(n)
        assert sandbox.drain() == 3
        assert noted() == [0, 1, 2]

    def test_nothing_due_is_nothing_run(self, sandbox):
        note.schedule(1, 1)
        assert sandbox.drain() == 0

    def test_what_tasks_send_runs_too(self, sandbox):
        count_down.send(3)
        assert sandbox.drain() == 4
        assert noted() == [3, 2, 1, 0]

    def test_time_stands_still(self, sandbox):
        count_down.send(3)
        sandbox.drain()
        assert sandbox.now == START

    def test_a_drained_task_does_not_run_again(self, sandbox):
        note.send(1)
        sandbox.drain()
        assert sandbox.drain() == 0

    async def test_it_has_an_async_form(self, sandbox):
        await note_async.send_async(1)
        note.send(2)
        assert await sandbox.drain_async() == 2
        assert noted() == [1, 2]

    async def test_the_plain_form_works_inside_a_running_loop(self, sandbox):
        note_async.send(1)
        note.send(2)
        assert sandbox.drain() == 2

    def test_sync_tasks_run_on_the_thread_of_the_test(self, sandbox):
        threads = []

        @app.task("where")
        def where() -> TaskResult[None, TaskError]:
            threads.append(threading.current_thread())
            return TaskResult(ok=None)

        where.send()
        sandbox.drain()
        assert threads == [threading.current_thread()]

    def test_a_task_that_sends_itself_for_ever_is_stopped(self, sandbox):
        for_ever.send()
        with pytest.raises(RuntimeError, match="does a task send itself"):
            sandbox.drain(max_runs=50)
        assert len(sandbox.sent(for_ever)) == 51

    def test_the_default_limit_is_bounded_too(self, sandbox):
        for_ever.send()
        with pytest.raises(RuntimeError, match="10000 tasks have run"):
            sandbox.drain()

    def test_a_get_is_stopped_as_well(self):
        for_ever.send()
        with pytest.raises(RuntimeError, match="does a task send itself"):
            note.with_options(priority=100).send(1).get()

    def test_the_limit_itself_may_be_reached(self, sandbox):
        count_down.send(3)
        assert sandbox.drain(max_runs=4) == 4

    def test_what_has_run_before_the_limit_was_passed_has_ended(self, sandbox):
        handles = [note.send(n) for n in range(3)]
        with pytest.raises(RuntimeError):
            sandbox.drain(max_runs=2)
        statuses = [handle.info().status for handle in handles]
        assert statuses == [TaskStatus.COMPLETED, TaskStatus.COMPLETED, TaskStatus.PENDING]

    def test_what_the_limit_kept_from_running_runs_later(self, sandbox):
        for n in range(3):
            note.send(n)
        with pytest.raises(RuntimeError):
            sandbox.drain(max_runs=2)
        sandbox.drain()
        assert noted() == [0, 1, 2]


class TestAdvance:
    def test_a_delayed_task_runs_at_its_instant(self, sandbox):
        note.schedule(timedelta(minutes=5), 1)
        assert sandbox.advance(hours=1) == 1
        assert minutes() == [5]
        assert sandbox.now == START + timedelta(hours=1)

    def test_many_run_in_the_order_of_their_instants(self, sandbox):
        for n in (30, 10, 20):
            note.schedule(n * 60, n)
        sandbox.advance(minutes=25)
        assert (noted(), minutes()) == ([10, 20], [10, 20])

    def test_retries_run_at_their_instants(self, sandbox):
        handle = flaky.send(failures=2)
        sandbox.advance(hours=1)
        assert minutes() == [0, 1, 11]
        assert handle.get().unwrap() == 3

    def test_used_up_retries_fail(self, sandbox):
        handle = flaky.send(failures=99)
        assert sandbox.advance(hours=3) == 4
        assert minutes() == [0, 1, 11, 71]
        assert handle.info().status is TaskStatus.FAILED

    def test_a_task_that_schedules_itself_runs_as_often_as_time_allows(self, sandbox):
        every_minute.send()
        assert sandbox.advance(minutes=5) == 6
        assert minutes() == [0, 1, 2, 3, 4, 5]

    def test_what_is_due_before_time_passes_runs_first(self, sandbox):
        note.send(1)
        sandbox.advance(minutes=1)
        assert minutes() == [0]

    def test_an_eta_is_an_instant_too(self, sandbox):
        note.with_options(eta=START + timedelta(days=1)).send(1)
        sandbox.advance(days=2)
        assert minutes() == [24 * 60]

    def test_the_last_instant_belongs_to_the_time(self, sandbox):
        note.schedule(60, 1)
        assert sandbox.advance(seconds=60) == 1

    def test_a_duration_or_its_parts_say_how_long(self, sandbox):
        sandbox.advance(timedelta(minutes=1))
        sandbox.advance(minutes=1, seconds=30)
        assert sandbox.now == START + timedelta(minutes=2, seconds=30)

    def test_no_duration_is_no_time(self, sandbox):
        note.send(1)
        assert sandbox.advance() == 1
        assert sandbox.now == START

    def test_time_does_not_run_backwards(self, sandbox):
        with pytest.raises(ValueError, match="backwards"):
            sandbox.advance(seconds=-1)

    def test_a_bare_number_is_not_a_duration(self, sandbox):
        with pytest.raises(TypeError, match="hours=3"):
            sandbox.advance(5)  # pyright: ignore[reportArgumentType] - the fault under test

    async def test_it_has_an_async_form(self, sandbox):
        await note_async.schedule_async(60, 1)
        assert await sandbox.advance_async(hours=1) == 1
        assert minutes() == [1]

    def test_ended_tasks_are_forgotten_after_the_retention(self, sandbox):
        handle = note.send(1)
        sandbox.advance(days=30)
        assert handle.info() is None

    def test_all_that_is_past_its_good_until_expires(self, sandbox):
        fresh = note.with_options(good_until=START + timedelta(minutes=1), delay=120)
        handles = fresh.send_many({"n": n} for n in range(1_200))
        sandbox.advance(minutes=3)
        assert {handle.info().status for handle in handles} == {TaskStatus.EXPIRED}
        assert runs == []


class TestStart:
    def test_the_clock_begins_where_it_is_told(self, sandbox):
        assert sandbox.now == START

    def test_it_begins_now_if_it_is_not_told(self):
        with app.testing() as sandbox:
            assert abs(sandbox.now - datetime.now(UTC)) < timedelta(seconds=5)

    def test_a_start_without_a_time_zone_is_refused(self):
        with pytest.raises(ValueError, match="aware datetime"), app.testing(datetime(2026, 1, 1)):  # noqa: DTZ001 - the fault under test
            pass

    @pytest.mark.parametrize("year", [1970, 9998])
    def test_any_year_will_do(self, year):
        here.clear()
        with app.testing(datetime(year, 1, 1, tzinfo=UTC)) as sandbox:
            here.append(sandbox)
            assert note.send(1).get().unwrap() == 1


class TestCaps:
    def test_a_stopped_queue_does_not_run(self):
        queues = [CustomQueueConfig("default"), CustomQueueConfig("off", max_concurrency=0)]
        capped = Horsies(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))

        @capped.task("job", queue="off")
        def job() -> TaskResult[None, TaskError]:
            return TaskResult(ok=None)

        with capped.testing() as sandbox:
            job.send()
            assert sandbox.drain() == 0

    def test_queues_are_served_by_their_priority(self):
        queues = [CustomQueueConfig("low", priority=9), CustomQueueConfig("high", priority=2)]
        ranked = Horsies(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
        order = []

        @ranked.task("job", queue="low")
        def job(n: int) -> TaskResult[None, TaskError]:
            order.append(n)
            return TaskResult(ok=None)

        with ranked.testing() as sandbox:
            job.send(1)
            job.with_options(queue="high").send(2)
            sandbox.drain()
        assert order == [2, 1]


def test_a_task_that_is_cancelled_from_inside_ends_as_an_error(sandbox):
    @app.task("cancels_itself")
    async def cancels_itself() -> TaskResult[None, TaskError]:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner
        return TaskResult(ok=None)

    handle = cancels_itself.send()
    sandbox.drain()
    assert handle.info().status is TaskStatus.FAILED


async def test_a_cancel_of_the_test_itself_is_not_swallowed(sandbox):
    @app.task("endless")
    async def endless() -> TaskResult[None, TaskError]:
        await asyncio.sleep(60)
        return TaskResult(ok=None)

    handle = await endless.send_async()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await handle.get_async()
