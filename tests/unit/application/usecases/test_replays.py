"""Sends that are repeated, by their id or by their key: one task each."""

from collections.abc import Sequence
from dataclasses import replace

from horsies.application.definition import TaskDefinition
from horsies.application.send_options import SendOptions
from horsies.application.settings.app import AppConfig
from horsies.application.settings.queues import CustomQueueConfig, QueueMode
from horsies.application.usecases.enqueue_tasks import Call, EnqueueTasks
from horsies.domain.errors import BrokerError, BrokerFault, TaskSendError
from horsies.domain.outcome import Succeeded
from horsies.domain.sending import Batch, Receipt, SendErrorCode
from horsies.domain.task import NewTask
from tests.unit.application.usecases.bench import Bench, add
from tests.unit.application.usecases.bench import bench as new_bench
from tests.unit.application.usecases.sends import refused, sent


class LostAcknowledgement:
    """An inbox that does its work and then loses the connection."""

    def __init__(self, bench: Bench) -> None:
        self._inbox = bench.inbox

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        self._inbox.accept(batch, connection)
        raise BrokerError("the connection was lost", fault=BrokerFault.CONNECTION)

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        return self.accept(batch, connection)


def lose(bench: Bench, definition: TaskDefinition, *args: object, **options: object):
    """A send whose acknowledgement was lost: the error that the sender is left with."""
    plan = bench.enqueue.plan(definition, [Call(args, {})], SendOptions(**options))
    return losing(bench).run(plan).failure()


def losing(bench: Bench) -> EnqueueTasks:
    return replace(bench.enqueue, inbox=LostAcknowledgement(bench))


def replayed(bench: Bench, error: TaskSendError):
    return bench.enqueue.run(bench.enqueue.plan_replay(error))


class TestReplay:
    def test_an_unknown_outcome_is_retryable_and_carries_id_and_payload(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        assert (error.code, error.retryable) == (SendErrorCode.ENQUEUE_FAILED, True)
        assert error.task_id is not None
        assert error.payload == b'{"x":1}'
        assert "the connection was lost; retry_send(error)" in str(error)

    async def test_an_unknown_outcome_is_the_same_for_the_async_runner(self, bench):
        plan = bench.enqueue.plan(bench.define(add, "add"), [Call((1,), {})], SendOptions())
        error = (await losing(bench).run_async(plan)).failure()
        assert error.code is SendErrorCode.ENQUEUE_FAILED

    async def test_a_replay_finds_its_first_copy(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        assert replayed(bench, error).unwrap() == (error.task_id,)
        assert len(await bench.claim()) == 1

    async def test_a_replay_makes_the_task_if_the_first_copy_never_arrived(self, bench):
        definition = bench.define(add, "add")
        plan = bench.enqueue.plan(definition, [Call((1,), {})], SendOptions())
        task = plan.unwrap().tasks[0]
        error = TaskSendError(SendErrorCode.ENQUEUE_FAILED, "no route", (task,))
        assert replayed(bench, error).unwrap() == (task.id,)
        assert (await bench.claim_one()).id == task.id

    async def test_a_replay_after_the_first_copy_has_ended_runs_nothing(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        await bench.run_once(Succeeded(), b'{"ok":2}')
        assert replayed(bench, error).unwrap() == (error.task_id,)
        assert await bench.claim() == []

    async def test_a_replay_of_many_makes_up_for_the_missing_only(self, bench):
        calls = [Call((n,), {}) for n in range(3)]
        plan = bench.enqueue.plan(bench.define(add, "add"), calls, SendOptions())
        tasks = tuple(plan.unwrap().tasks)
        bench.inbox.accept(Batch(tasks=tasks[:1]))
        error = TaskSendError(SendErrorCode.ENQUEUE_FAILED, "half", tasks)
        assert replayed(bench, error).unwrap() == tuple(task.id for task in tasks)
        assert len(await bench.claim()) == 3

    async def test_a_replay_into_the_queue_it_filled_itself_finds_its_first_copy(self):
        queues = [CustomQueueConfig("default", max_pending=1)]
        bench = new_bench(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
        error = lose(bench, bench.define(add, "add"), 1)
        assert replayed(bench, error).unwrap() == (error.task_id,)

    async def test_a_replay_with_another_payload_is_a_mismatch(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        forged = replace(error.tasks[0], payload=b'{"x":2}')
        again = TaskSendError(error.code, error.message, (forged,))
        refusal = replayed(bench, again).failure()
        assert (refusal.code, refusal.retryable) == (SendErrorCode.PAYLOAD_MISMATCH, False)

    def test_a_replay_as_old_as_the_retention_is_refused(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        bench.pass_time(hours=719.99)
        assert replayed(bench, error).unwrap() == (error.task_id,)
        bench.pass_time(hours=0.02)
        refusal = replayed(bench, error).failure()
        assert (refusal.code, refusal.retryable) == (SendErrorCode.REPLAY_TOO_OLD, False)
        assert refusal.tasks == error.tasks

    async def test_a_replay_older_than_its_own_result_ttl_is_refused(self, bench):
        error = lose(bench, bench.define(add, "add"), 1, result_ttl_ms=1_000)
        await bench.run_once(Succeeded(), b'{"ok":2}')
        bench.pass_time(seconds=2)
        await bench.reap.purge()
        assert replayed(bench, error).failure().code is SendErrorCode.REPLAY_TOO_OLD
        assert await bench.claim() == []

    def test_a_closed_gate_refuses_a_replay(self, bench):
        error = lose(bench, bench.define(add, "add"), 1)
        bench.gate.shut = True
        assert replayed(bench, error).failure().code is SendErrorCode.SEND_SUPPRESSED

    def test_what_never_left_cannot_be_replayed(self, bench):
        error = refused(bench, bench.define(add, "add"), "one")
        refusal = replayed(bench, error).failure()
        assert refusal.code is SendErrorCode.VALIDATION_FAILED
        assert "refused (VALIDATION_FAILED) before it reached the queue" in str(refusal)

    async def test_a_replay_keeps_its_idempotency_key(self, bench):
        definition = bench.define(add, "add")
        plan = bench.enqueue.plan(definition, [Call((1,), {})], SendOptions(idempotency_key="k"))
        task = plan.unwrap().tasks[0]
        replayed(bench, TaskSendError(SendErrorCode.ENQUEUE_FAILED, "no route", (task,)))
        assert sent(bench, definition, 1, idempotency_key="k") == task.id


class TestIdempotency:
    async def test_the_same_call_gives_the_same_task(self, bench):
        definition = bench.define(add, "add")
        first = sent(bench, definition, 1, idempotency_key="order-7")
        assert sent(bench, definition, 1, idempotency_key="order-7") == first
        assert len(await bench.claim()) == 1

    def test_the_order_of_keywords_does_not_matter(self, bench):
        definition = bench.define(add, "add")
        options = SendOptions(idempotency_key="k")
        one = bench.enqueue.plan(definition, [Call((), {"x": 1, "y": 2})], options)
        two = bench.enqueue.plan(definition, [Call((), {"y": 2, "x": 1})], options)
        assert bench.enqueue.run(one).unwrap() == bench.enqueue.run(two).unwrap()

    def test_another_call_under_the_same_key_is_a_conflict(self, bench):
        definition = bench.define(add, "add")
        first = sent(bench, definition, 1, idempotency_key="order-7")
        error = refused(bench, definition, 2, idempotency_key="order-7")
        assert (error.code, error.retryable) == (SendErrorCode.IDEMPOTENCY_CONFLICT, False)
        assert str(first) in str(error)

    def test_a_key_is_scoped_by_the_task_s_name(self, bench):
        one, two = bench.define(add, "one"), bench.define(add, "two")
        first = sent(bench, one, 1, idempotency_key="k")
        assert sent(bench, two, 1, idempotency_key="k") != first

    async def test_a_key_outlives_its_task_and_ends_with_its_window(self, bench):
        definition = bench.define(add, "add", result_ttl_ms=1)
        first = sent(bench, definition, 1, idempotency_key="k")
        await bench.run_once(Succeeded(), b'{"ok":2}')
        bench.pass_time(hours=23)
        await bench.reap.purge()
        assert sent(bench, definition, 1, idempotency_key="k") == first
        bench.pass_time(hours=1)
        assert sent(bench, definition, 1, idempotency_key="k") != first

    def test_the_window_is_configured(self):
        bench = new_bench(AppConfig(idempotency_window_hours=1))
        definition = bench.define(add, "add")
        first = sent(bench, definition, 1, idempotency_key="k")
        bench.pass_time(hours=1)
        assert sent(bench, definition, 1, idempotency_key="k") != first

    def test_a_full_queue_still_knows_the_key(self):
        queues = [CustomQueueConfig("default", max_pending=1)]
        bench = new_bench(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
        definition = bench.define(add, "add")
        first = sent(bench, definition, 1, idempotency_key="k")
        assert sent(bench, definition, 1, idempotency_key="k") == first

    def test_a_refused_send_does_not_use_up_its_key(self):
        queues = [CustomQueueConfig("default", max_pending=1)]
        bench = new_bench(AppConfig(queue_mode=QueueMode.CUSTOM, custom_queues=queues))
        definition = bench.define(add, "add")
        sent(bench, definition, 1)
        refused(bench, definition, 2, idempotency_key="k")
        roomy = replace(bench.enqueue, config=AppConfig())
        plan = roomy.plan(definition, [Call((3,), {})], SendOptions(idempotency_key="k"))
        assert roomy.run(plan).unwrap()

    def test_one_key_cannot_name_several_tasks(self, bench):
        calls = [Call((1,), {}), Call((2,), {})]
        options = SendOptions(idempotency_key="k")
        plan = bench.enqueue.plan(bench.define(add, "add"), calls, options)
        error = bench.enqueue.run(plan).failure()
        assert error.code is SendErrorCode.VALIDATION_FAILED
        assert "one idempotency_key cannot name several tasks" in str(error)


def test_an_error_about_many_tasks_carries_them_all(bench):
    calls = [Call((n,), {}) for n in range(3)]
    plan = bench.enqueue.plan(bench.define(add, "add"), calls, SendOptions())
    error = losing(bench).run(plan).failure()
    assert [type(task) for task in error.tasks] == [NewTask] * 3
