"""Sending: everything refused is refused with its code, everything replayed is one task."""

from datetime import datetime, timedelta

import pytest

from horsies.application.send_options import SendOptions
from horsies.application.settings.app import AppConfig
from horsies.application.settings.queues import CustomQueueConfig, QueueMode
from horsies.application.usecases.enqueue_tasks import Call
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy
from horsies.domain.sending import SendErrorCode
from tests.unit.application.usecases.bench import add
from tests.unit.application.usecases.bench import bench as new_bench
from tests.unit.application.usecases.sends import refused, sent


async def test_a_sent_task_waits_in_its_queue(bench):
    task_id = sent(bench, bench.define(add, "add"), 1)
    task = await bench.claim_one()
    assert (task.id, task.name, task.queue, task.priority) == (task_id, "add", "default", 50)
    assert task.payload == b'{"x":1}'


async def test_the_async_runner_does_the_same(bench):
    plan = bench.enqueue.plan(bench.define(add, "add"), [Call((1,), {})], SendOptions())
    (task_id,) = (await bench.enqueue.run_async(plan)).unwrap()
    assert (await bench.claim_one()).id == task_id


async def test_many_calls_keep_their_order(bench):
    calls = [Call((n,), {}) for n in range(50)]
    plan = bench.enqueue.plan(bench.define(add, "add"), calls, SendOptions())
    ids = bench.enqueue.run(plan).unwrap()
    assert [task.id for task in await bench.claim()] == list(ids)


async def test_sending_nothing_is_no_error(bench):
    plan = bench.enqueue.plan(bench.define(add, "add"), [], SendOptions())
    assert bench.enqueue.run(plan).unwrap() == ()


async def test_options_reach_the_task():
    queues = [CustomQueueConfig("default"), CustomQueueConfig("slow")]
    bench = new_bench(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
    good_until = bench.now() + timedelta(hours=1)
    task_id = sent(
        bench,
        bench.define(add, "add"),
        1,
        queue="slow",
        priority=1,
        delay=90,
        good_until=good_until,
        timeout_ms=5_000,
        result_ttl_ms=60_000,
    )
    task = await bench.find(task_id)
    assert (task.queue, task.priority, task.good_until) == ("slow", 1, good_until)
    assert task.enqueued_at == bench.now() + timedelta(seconds=90)
    assert (task.terms.timeout, task.terms.result_ttl) == (
        timedelta(seconds=5),
        timedelta(minutes=1),
    )


async def test_an_eta_is_when_the_task_becomes_eligible(bench):
    eta = bench.now() + timedelta(days=1)
    task_id = sent(bench, bench.define(add, "add"), 1, eta=eta)
    assert (await bench.find(task_id)).enqueued_at == eta


class TestTerms:
    async def test_what_was_agreed_at_send_is_stored_with_the_task(self, bench):
        policy = RetryPolicy.fixed([1, 2], auto_retry_for=["BOOM"])
        definition = bench.define(
            add, "add", retry_policy=policy, timeout_ms=7, result_ttl_ms=9, on_failure="clean_up"
        )
        terms = (await bench.find(sent(bench, definition, 1))).terms
        assert terms.retry == policy
        assert (terms.timeout, terms.result_ttl) == (
            timedelta(milliseconds=7),
            timedelta(milliseconds=9),
        )
        assert terms.on_failure.name == "clean_up"

    async def test_exception_classes_stay_where_the_code_is(self, bench):
        policy = RetryPolicy.fixed([1], auto_retry_for=[ValueError, "BOOM"])
        definition = bench.define(add, "add", retry_policy=policy)
        terms = (await bench.find(sent(bench, definition, 1))).terms
        assert (terms.retry.exceptions, terms.retry.codes) == ((), {"BOOM"})

    async def test_the_terms_of_a_known_handler_are_its_own(self, bench):
        def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
            raise NotImplementedError

        definition = bench.define(add, "add", on_failure="clean_up")
        bench.define(clean_up, "clean_up", timeout_ms=7, on_failure="add")
        handler = (await bench.find(sent(bench, definition, 1))).terms.on_failure
        assert (handler.name, handler.queue) == ("clean_up", "default")
        assert handler.terms.timeout == timedelta(milliseconds=7)
        assert handler.terms.on_failure is None

    async def test_a_handler_that_becomes_known_later_is_taken_up(self, bench):
        def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
            raise NotImplementedError

        definition = bench.define(add, "add", on_failure="clean_up")
        sent(bench, definition, 1)
        bench.define(clean_up, "clean_up", timeout_ms=7)
        handler = (await bench.find(sent(bench, definition, 1))).terms.on_failure
        assert handler.terms.timeout == timedelta(milliseconds=7)

    async def test_the_app_s_default_timeout_holds_where_the_task_has_none(self):
        bench = new_bench(AppConfig(default_timeout_ms=5))
        task = await bench.find(sent(bench, bench.define(add, "add"), 1))
        assert task.terms.timeout == timedelta(milliseconds=5)


class TestRefusals:
    def test_a_closed_gate_refuses(self, bench):
        definition = bench.define(add, "add")
        bench.gate.shut = True
        error = refused(bench, definition, 1)
        assert (error.code, error.retryable) == (SendErrorCode.SEND_SUPPRESSED, False)
        assert "'add'" in str(error)

    @pytest.mark.parametrize("args", [(), (1, 2, 3), ("one",), (1.5,)])
    def test_arguments_that_do_not_fit_are_refused(self, bench, args):
        error = refused(bench, bench.define(add, "add"), *args)
        assert (error.code, error.retryable) == (SendErrorCode.VALIDATION_FAILED, False)
        assert str(error).startswith("VALIDATION_FAILED: task 'add': ")

    async def test_one_bad_call_refuses_all(self, bench):
        calls = [Call((1,), {}), Call(("one",), {})]
        plan = bench.enqueue.plan(bench.define(add, "add"), calls, SendOptions())
        assert bench.enqueue.run(plan).failure().code is SendErrorCode.VALIDATION_FAILED
        assert await bench.claim() == []

    def test_a_payload_at_the_limit_is_accepted_and_above_it_refused(self):
        def shout(text: str) -> TaskResult[None, TaskError]:
            raise NotImplementedError

        bench = new_bench(AppConfig(payload_limit_bytes=100))
        definition = bench.define(shout, "shout")
        overhead = len(b'{"text":""}')
        sent(bench, definition, "x" * (100 - overhead))
        error = refused(bench, definition, "x" * (101 - overhead))
        assert error.code is SendErrorCode.PAYLOAD_TOO_LARGE
        assert "101 bytes, of at most 100 (payload_limit_bytes)" in str(error)

    def test_a_full_queue_refuses(self):
        queues = [CustomQueueConfig("default", max_pending=2)]
        bench = new_bench(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
        definition = bench.define(add, "add")
        sent(bench, definition, 1)
        sent(bench, definition, 2)
        error = refused(bench, definition, 3)
        assert (error.code, error.retryable) == (SendErrorCode.QUEUE_FULL, False)
        assert "'default'" in str(error)

    def test_every_problem_of_the_options_is_told_at_once(self, bench):
        error = refused(
            bench,
            bench.define(add, "add"),
            1,
            queue="nowhere",
            priority=101,
            delay=-1,
            eta=datetime(2026, 1, 1),  # noqa: DTZ001 - the fault under test
            good_until="tomorrow",
            timeout_ms=0,
            result_ttl_ms=1.5,
            idempotency_key="",
        )
        assert error.code is SendErrorCode.VALIDATION_FAILED
        for words in (
            "there is no queue 'nowhere'; the queues are 'default'",
            "priority must be a whole number from 1 to 100, not 101",
            "delay must be a timedelta or seconds, from 0 to 3650 days, not -1",
            "eta must be a datetime with a time zone",
            "good_until must be a datetime with a time zone",
            "timeout_ms must be a whole number from 1 to 315_360_000_000, not 0",
            "result_ttl_ms must be a whole number from 1 to 315_360_000_000, not 1.5",
            "idempotency_key must be text of 1 to 255 characters without NUL",
            "delay and eta exclude each other",
        ):
            assert words in str(error)
