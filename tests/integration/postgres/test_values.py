"""Values at the edge of what the database takes: kept as they are, or refused by themselves."""

import pytest

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.codec import Parameter, Signature, UnfitValueError
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Complete
from horsies.domain.result import TaskResult
from horsies.domain.sending import Batch
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus

MEGABYTES = b'{"text":"' + "ä€😀".encode() * 500_000 + b'"}'
POISON = b'{"ok":"a\x00b"}'


async def test_a_payload_of_megabytes_comes_back_as_it_was(world):
    task_id = world.send(payload=MEGABYTES)
    running = await world.claim_one()
    assert running.payload == MEGABYTES
    await world.settle(running, result=MEGABYTES)
    assert (await world.find(task_id)).result == MEGABYTES


async def test_json_keeps_its_bytes(world):
    payload = b'{ "b":1.50, "a":[1e400000, "\\u00e4\\u0000"], "b":2 }'
    task_id = world.send(payload=payload)
    assert (await world.find(task_id)).payload == payload


@pytest.mark.parametrize("count", [1, 250])
async def test_no_character_of_a_payload_ends_its_row(world, count):
    payload = b'{"a":"\\\\.",\n\t"b":"\\\\N",\r\n"c":"\\t"}'
    tasks = [world.new_task(payload=payload) for _ in range(count)]
    world.inbox.accept(Batch(tasks=tasks))
    assert {task.payload for task in await world.claim(count)} == {payload}


@pytest.mark.parametrize("queue", ["q" * 63, "ü" * 31, "a b'\"%s{}\\"])
async def test_a_queue_of_any_name_is_served(world, queue):
    task_id = world.send(queue=queue)
    assert [task.id for task in await world.claim(queues=(queue,))] == [task_id]


async def test_a_poisonous_result_is_refused(world):
    world.send()
    with pytest.raises(BrokerError):
        await world.settle(await world.claim_one(), result=POISON)


async def test_a_refused_batch_leaves_nothing_behind_and_goes_through_one_by_one(world):
    for _ in range(3):
        world.send()
    first, poisoned, last = await world.claim()
    results = {first: b"1", poisoned: POISON, last: b"3"}
    batch = [Settlement(task.claim, Complete(), result) for task, result in results.items()]

    async def settle(settlements):
        async with world.unit_of_work() as tx:
            return await tx.tasks.settle(settlements)

    with pytest.raises(BrokerError):
        await settle(batch)
    for settlement in batch:
        try:
            await settle([settlement])
        except BrokerError:
            assert settlement.claim == poisoned.claim
    ended = [(await world.find(task.id)).status for task in results]
    assert ended == [TaskStatus.COMPLETED, TaskStatus.RUNNING, TaskStatus.COMPLETED]


async def test_a_refused_batch_of_sends_leaves_nothing_behind(world):
    tasks = [world.new_task(), world.new_task(priority=0)]
    with pytest.raises(BrokerError):
        world.inbox.accept(Batch(tasks=tasks))
    assert await world.claim() == []


@pytest.mark.parametrize("payload", [POISON, b"\xff"])
@pytest.mark.parametrize("count", [0, 250])
async def test_a_payload_that_no_database_takes_is_refused_with_its_batch(world, payload, count):
    tasks = [world.new_task() for _ in range(count)]
    with pytest.raises(BrokerError) as raised:
        world.inbox.accept(Batch(tasks=[*tasks, world.new_task(payload=payload)]))
    assert raised.value.fault is BrokerFault.REFUSED
    assert await world.claim() == []
    world.inbox.accept(Batch(tasks=[*tasks, world.new_task()]))
    assert len(await world.claim(251)) == count + 1


@pytest.mark.parametrize("value", ["a\x00b", "\ud800", float("nan"), float("inf")])
def test_what_the_database_would_refuse_does_not_pass_the_codec(value):
    codec = MsgspecCodec().compile(
        Signature([Parameter("value", type(value), required=True)], result=type(value))
    )
    with pytest.raises(UnfitValueError):
        codec.encode_call([value], {})
    with pytest.raises(UnfitValueError):
        codec.encode_result(TaskResult(ok=value))
