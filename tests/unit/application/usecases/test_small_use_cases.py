"""Heartbeats, cancels, retries by hand and inspection: one transaction each."""

from datetime import timedelta

import pytest

from horsies.application.usecases.cancel_tasks import CancelTasks
from horsies.application.usecases.inspect_tasks import InspectTasks
from horsies.application.usecases.retry_task import RetryTask
from horsies.application.usecases.send_heartbeat import SendHeartbeat
from horsies.domain.cancellation import CancelAnswer
from horsies.domain.errors import BrokerError
from horsies.domain.outcome import Crashed, Errored, Fail, Interrupted, Succeeded, Unresolved
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import FailureHandler, Terms
from horsies.domain.task_lifecycle import TaskStatus
from horsies.domain.worker import Pulse, PulseAnswer

TWICE = RetryPolicy.fixed([10, 60], auto_retry_for=["BOOM", "WORKER_CRASHED"])


async def test_a_heartbeat_renews_the_lease_and_confirms_the_claims(bench):
    bench.send()
    task = await bench.claim_one()
    heartbeat = SendHeartbeat(bench.unit_of_work, timedelta(seconds=7))
    answer = await heartbeat(Pulse(bench.record(bench.worker), running=[task.claim]))
    assert answer == PulseAnswer()
    async with bench.unit_of_work() as tx:
        (worker,) = await tx.workers.all()
    assert worker.lease_until == bench.now() + timedelta(seconds=7)


async def test_a_heartbeat_hears_of_lost_claims_and_of_cancels(bench):
    bench.send()
    bench.send()
    lost, asked = await bench.claim()
    await bench.settle(lost, Fail("BOOM"), bench.failed())
    await bench.cancel(asked)
    heartbeat = SendHeartbeat(bench.unit_of_work, timedelta(seconds=7))
    pulse = Pulse(bench.record(bench.worker), running=[lost.claim, asked.claim])
    answer = await heartbeat(pulse)
    assert answer == PulseAnswer(frozenset([lost.claim]), frozenset([asked.claim]))


async def test_each_task_of_a_cancel_gets_its_own_answer(bench):
    for _ in range(3):
        bench.send()
    ended, running = await bench.claim(2)
    await bench.settle(ended)
    waiting, unknown = bench.send(), bench.ids.task_id()
    answers = await CancelTasks(bench.unit_of_work)([ended.id, running.id, waiting, unknown])
    assert answers == {
        ended.id: CancelAnswer.ALREADY_TERMINAL,
        running.id: CancelAnswer.REQUESTED,
        waiting: CancelAnswer.CANCELLED,
        unknown: CancelAnswer.NOT_FOUND,
    }


async def test_after_a_cancel_nothing_starts(bench):
    task_id = bench.send()
    await CancelTasks(bench.unit_of_work)([task_id])
    assert await bench.claim() == []


class TestRetry:
    def retry(self, bench):
        return RetryTask(bench.unit_of_work, bench.ids)

    async def test_a_retry_is_a_new_task_that_names_the_old_one(self, bench):
        old = bench.send()
        await bench.run_once(Errored("BOOM"))
        new = await self.retry(bench)(old)
        assert new != old
        assert (await bench.find(new)).retry_of == old

    async def test_history_does_not_change(self, bench):
        bench.send()
        ended = await bench.run_once(Errored("BOOM"))
        await self.retry(bench)(ended.id)
        assert await bench.find(ended.id) == ended

    async def test_a_retry_is_the_same_call_on_the_same_terms(self, bench):
        terms = Terms(retry=TWICE, on_failure=FailureHandler(name="h", queue="default"))
        old = bench.send(
            "resize", payload=b'{"x":1}', priority=3, terms=terms, headers={"traceparent": "00-a"}
        )
        await bench.run_once(Succeeded(), b'{"ok":1}')
        task = await bench.find(await self.retry(bench)(old))
        assert (task.name, task.payload, task.priority) == ("resize", b'{"x":1}', 3)
        assert (task.terms, task.headers) == (terms, {"traceparent": "00-a"})

    async def test_a_retry_starts_with_a_clean_slate(self, bench):
        bench.send(terms=Terms(retry=RetryPolicy.fixed([1], auto_retry_for=["WORKER_CRASHED"])))
        for _ in range(2):
            crashed = await bench.run_once(Crashed())
            bench.pass_time(seconds=1)
        task = await bench.find(await self.retry(bench)(crashed.id))
        assert (task.crashes, task.attempt, task.retries, task.epoch) == (0, 0, 0, 0)
        assert (task.status, task.sent_at) == (TaskStatus.PENDING, bench.now())

    async def test_the_deadline_of_the_first_life_is_gone(self, bench):
        old = bench.send(good_until=bench.now() + timedelta(seconds=1))
        bench.pass_time(seconds=1)
        await bench.reap.expire()
        await self.retry(bench)(old)
        assert (await bench.claim_one()).retry_of == old

    @pytest.mark.parametrize("start", [None, False, True], ids=["pending", "claimed", "running"])
    async def test_a_live_task_cannot_be_retried(self, bench, start):
        task_id = bench.send()
        if start is not None:
            await bench.claim_one(start=start)
        with pytest.raises(BrokerError, match="only an ended task can be retried"):
            await self.retry(bench)(task_id)

    async def test_a_refused_retry_leaves_nothing_behind(self, bench):
        task_id = bench.send()
        with pytest.raises(BrokerError):
            await self.retry(bench)(task_id)
        assert len(await bench.claim()) == 1

    async def test_an_unknown_task_cannot_be_retried(self, bench):
        with pytest.raises(BrokerError, match="is not known"):
            await self.retry(bench)(bench.ids.task_id())


class TestInspect:
    def inspect(self, bench):
        return InspectTasks(bench.unit_of_work, bench.codec, bench.clock)

    async def test_an_unknown_task_has_no_info(self, bench):
        assert await self.inspect(bench)(bench.ids.task_id()) is None

    async def test_a_waiting_task_shows_what_was_sent(self, bench):
        task_id = bench.send("resize", priority=7, delay=timedelta(seconds=9))
        info = await self.inspect(bench)(task_id)
        assert (info.name, info.queue, info.priority) == ("resize", "default", 7)
        assert (info.status, info.attempt, info.attempts) == (TaskStatus.PENDING, 0, ())
        assert (info.sent_at, info.enqueued_at - info.sent_at) == (
            bench.now(),
            timedelta(seconds=9),
        )

    async def test_arguments_are_not_part_of_it(self, bench):
        task_id = bench.send(payload=b'{"password":"hunter2"}')
        assert "hunter2" not in repr(await self.inspect(bench)(task_id))

    async def test_every_attempt_is_told_with_its_error_and_times(self, bench):
        task_id = bench.send(terms=Terms(retry=TWICE))
        begin = bench.now()
        await bench.run_once(Errored("BOOM"), bench.failed())
        bench.pass_time(seconds=10)
        await bench.run_once(Succeeded(), b'{"ok":1}')
        first, last = (await self.inspect(bench)(task_id)).attempts
        assert (first.number, first.error.error_code, first.error.message) == (
            1,
            "BOOM",
            "it went wrong",
        )
        assert (first.started_at, first.finished_at) == (begin, begin)
        assert (last.number, last.error, last.worker) == (2, None, bench.worker)
        assert last.started_at == begin + timedelta(seconds=10)

    async def test_a_failed_task_shows_its_error(self, bench):
        bench.send()
        task = await bench.run_once(Errored("BOOM"), bench.failed())
        info = await self.inspect(bench)(task.id)
        assert (info.status, str(info.error)) == (TaskStatus.FAILED, "BOOM: it went wrong")
        assert info.finished_at == bench.now()

    async def test_a_cancelled_run_shows_its_code(self, bench):
        bench.send()
        task = await bench.run_once(Interrupted())
        assert (await self.inspect(bench)(task.id)).error.error_code == "TASK_CANCELLED"

    async def test_a_task_nobody_understands_says_so_while_it_waits(self, bench):
        bench.send()
        task = await bench.run_once(Unresolved("ARGUMENT_MISMATCH"))
        info = await self.inspect(bench)(task.id)
        assert (info.status, info.error.error_code) == (TaskStatus.PENDING, "ARGUMENT_MISMATCH")

    async def test_a_result_that_cannot_be_read_does_not_hide_the_task(self, bench):
        bench.send()
        task = await bench.claim_one()
        await bench.settle(task, Fail("BOOM"), b"\xff not json")
        info = await self.inspect(bench)(task.id)
        assert (info.status, info.error.error_code) == (TaskStatus.FAILED, "BOOM")

    async def test_live_tasks_are_counted_by_queue_and_status(self, bench):
        bench.send()
        bench.send()
        bench.send(queue="other")
        await bench.run_once(Succeeded(), b'{"ok":1}')
        assert await self.inspect(bench).counts() == {
            ("default", TaskStatus.PENDING): 1,
            ("other", TaskStatus.PENDING): 1,
        }
