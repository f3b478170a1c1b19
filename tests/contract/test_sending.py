"""The inbox: what a send leaves behind, and what a repeated one finds."""

from datetime import timedelta

import pytest

from horsies.domain.outcome import Complete
from horsies.domain.retry import RetryPolicy
from horsies.domain.sending import Accepted, AlreadyThere, Batch, KeyTaken, QueueFull
from horsies.domain.task import IdempotencyKey, Terms
from horsies.domain.task_lifecycle import TaskStatus


async def test_a_sent_task_is_pending_and_keeps_what_it_was_sent_with(world):
    terms = Terms(
        retry=RetryPolicy.exponential(2, auto_retry_for=["FLAKY"]), timeout=timedelta(seconds=9)
    )
    task_id = world.send(
        "resize", payload=b'{"x":1}', priority=7, terms=terms, headers={"traceparent": "00-a"}
    )
    task = await world.find(task_id)
    assert (task.status, task.name, task.payload) == (TaskStatus.PENDING, "resize", b'{"x":1}')
    assert (task.priority, task.terms, task.headers) == (7, terms, {"traceparent": "00-a"})
    assert (task.epoch, task.attempt, task.sent_at) == (0, 0, world.now())


async def test_async_and_sync_sends_do_the_same(world):
    task = world.new_task()
    assert await world.inbox.accept_async(Batch(tasks=[task])) == [Accepted(task.id)]
    assert (await world.find(task.id)).status is TaskStatus.PENDING


async def test_a_batch_keeps_its_order(world):
    tasks = [world.new_task() for _ in range(50)]
    receipts = world.inbox.accept(Batch(tasks=tasks))
    assert receipts == [Accepted(task.id) for task in tasks]
    assert [task.id for task in await world.claim()] == [task.id for task in tasks]


LARGE = 250


@pytest.mark.parametrize("count", [1, 2, LARGE])
async def test_tasks_that_are_alike_keep_what_they_were_sent_with(world, count):
    common = {
        "priority": 7,
        "terms": Terms(timeout=timedelta(seconds=9), result_ttl=timedelta(hours=5)),
        "headers": {"traceparent": "00-a", "odd": "tab\t line\n \\ \\N 🐎"},
        "good_until": world.now() + timedelta(days=3),
        "delay": timedelta(seconds=30),
    }
    payloads = [b'{"n":%d,"odd":"\\\\N \\t \\" \xf0\x9f\x90\x8e"}' % n for n in range(count)]
    tasks = [world.new_task(payload=payload, **common) for payload in payloads]
    assert world.inbox.accept(Batch(tasks=tasks)) == [Accepted(task.id) for task in tasks]
    for task, payload in zip(tasks, payloads, strict=True):
        found = await world.find(task.id)
        assert (found.payload, found.priority, found.terms) == (payload, 7, common["terms"])
        assert (found.headers, found.good_until) == (common["headers"], common["good_until"])
        assert (found.sent_at, found.claimable) == (world.now(), False)
        assert found.enqueued_at == world.now() + common["delay"]


@pytest.mark.parametrize("count", [1, LARGE])
async def test_async_code_sends_many_as_it_sends_one(world, count):
    tasks = [world.new_task(payload=b'{"n":%d}' % n) for n in range(count)]
    receipts = await world.inbox.accept_async(Batch(tasks=tasks))
    assert receipts == [Accepted(task.id) for task in tasks]
    claimed = await world.claim(LARGE)
    assert [(task.id, task.payload) for task in claimed] == [(t.id, t.payload) for t in tasks]


@pytest.mark.parametrize("count", [1, LARGE])
async def test_an_eta_that_has_passed_is_now(world, count):
    past = world.now() - timedelta(hours=1)
    tasks = [world.new_task(eta=past) for _ in range(count)]
    world.inbox.accept(Batch(tasks=tasks))
    claimed = await world.claim(LARGE)
    assert {task.enqueued_at for task in claimed} == {world.now()}
    assert len(claimed) == count


async def test_a_replay_of_many_adds_only_what_is_missing(world):
    tasks = [world.new_task() for _ in range(LARGE)]
    world.inbox.accept(Batch(tasks=tasks[1:]))
    first, *others = world.inbox.accept(Batch(tasks=tasks, replay=True))
    assert first == Accepted(tasks[0].id)
    assert others == [AlreadyThere(task.id, "job", b"{}") for task in tasks[1:]]


async def test_a_replayed_send_never_makes_a_second_task(world):
    task = world.new_task(payload=b'{"n":1}')
    world.inbox.accept(Batch(tasks=[task]))
    replay = world.inbox.accept(Batch(tasks=[task], replay=True))
    assert replay == [AlreadyThere(task.id, "job", b'{"n":1}')]
    assert len(await world.claim()) == 1


async def test_a_replay_is_recognised_after_the_first_copy_has_ended(world):
    task = world.new_task()
    world.inbox.accept(Batch(tasks=[task]))
    await world.settle(await world.claim_one(), Complete())
    replay = world.inbox.accept(Batch(tasks=[task], replay=True))
    assert replay == [AlreadyThere(task.id, "job", b"{}")]
    assert await world.claim() == []


async def test_an_idempotency_key_names_one_task(world):
    first = world.new_task(idempotency=IdempotencyKey("order-1", b"same"))
    second = world.new_task(idempotency=IdempotencyKey("order-1", b"same"))
    world.inbox.accept(Batch(tasks=[first]))
    assert world.inbox.accept(Batch(tasks=[second])) == [KeyTaken(first.id, b"same")]
    assert [task.id for task in await world.claim()] == [first.id]


async def test_an_idempotency_key_outlives_the_task_and_ends_with_its_window(world):
    first = world.new_task(idempotency=IdempotencyKey("k", b"f"))
    again = world.new_task(idempotency=IdempotencyKey("k", b"f"))
    window = timedelta(hours=24)
    world.inbox.accept(Batch(tasks=[first], key_window=window))
    await world.settle(await world.claim_one())
    world.pass_time(hours=23)
    assert world.inbox.accept(Batch(tasks=[again])) == [KeyTaken(first.id, b"f")]
    world.pass_time(hours=1)
    assert world.inbox.accept(Batch(tasks=[again])) == [Accepted(again.id)]


async def test_an_idempotency_key_belongs_to_one_task_name(world):
    key = IdempotencyKey("k", b"f")
    world.inbox.accept(Batch(tasks=[world.new_task("a", idempotency=key)]))
    other = world.new_task("b", idempotency=key)
    assert world.inbox.accept(Batch(tasks=[other])) == [Accepted(other.id)]


async def test_a_full_queue_refuses_the_whole_batch(world):
    world.send()
    batch = Batch(tasks=[world.new_task(), world.new_task()], max_pending={"default": 2})
    assert world.inbox.accept(batch) == [QueueFull("default", 2)] * 2
    assert len(await world.claim()) == 1


async def test_tasks_that_a_worker_took_leave_room_in_a_bounded_queue(world):
    world.send()
    await world.claim_one()
    task = world.new_task()
    batch = Batch(tasks=[task], max_pending={"default": 1})
    assert world.inbox.accept(batch) == [Accepted(task.id)]


async def test_a_full_queue_still_recognises_a_replay(world):
    task = world.new_task(payload=b'{"n":1}')
    limit = {"default": 1}
    world.inbox.accept(Batch(tasks=[task], max_pending=limit))
    replay = world.inbox.accept(Batch(tasks=[task], replay=True, max_pending=limit))
    assert replay == [AlreadyThere(task.id, "job", b'{"n":1}')]


async def test_a_full_queue_still_knows_its_keys(world):
    first = world.new_task(idempotency=IdempotencyKey("k", b"f"))
    again = world.new_task(idempotency=IdempotencyKey("k", b"f"))
    limit = {"default": 1}
    world.inbox.accept(Batch(tasks=[first], max_pending=limit))
    assert world.inbox.accept(Batch(tasks=[again], max_pending=limit)) == [KeyTaken(first.id, b"f")]
