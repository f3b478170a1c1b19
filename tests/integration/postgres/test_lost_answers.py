"""The commit is made and its answer lost: who repeats it finds its own work, done once."""

import pytest

from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Complete, Fail, GiveBack, RetryAt
from horsies.domain.sending import AlreadyThere, Batch
from horsies.domain.settlement import Settlement
from horsies.domain.task import IdempotencyKey
from horsies.domain.task_lifecycle import TaskStatus
from tests.contract.conftest import postgres_world
from tests.integration.postgres.cutter import Cutter
from tests.integration.postgres.waiting import until_nobody_holds_a_task

COPY_DONE = b"c\x00\x00\x00\x04"


@pytest.fixture
def cutter(dsn):
    with Cutter(dsn) as cutter:
        yield cutter


@pytest.fixture
async def world(cutter):
    async with postgres_world(cutter.dsn) as world:
        yield world


def plain(world):
    return Batch(tasks=[world.new_task(payload=b'{"n":1}')]), b'{"n":1}'


def keyed(world):
    return Batch(tasks=[world.new_task(idempotency=IdempotencyKey("k", b"f"))]), b"COMMIT"


def bounded(world):
    return Batch(tasks=[world.new_task()], max_pending={"default": 1}), b"COMMIT"


def of_several_kinds(world):
    return Batch(tasks=[world.new_task(), world.new_task(priority=1)]), b"COMMIT"


def large(world):
    return Batch(tasks=[world.new_task() for _ in range(250)]), COPY_DONE


KINDS = [plain, keyed, bounded, of_several_kinds, large]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_send_whose_answer_was_lost_is_recognised_and_exists_once(
    world, cutter, onlooker, kind
):
    batch, words = kind(world)
    cutter.cut_after(words)
    receipts = world.inbox.accept(batch)
    assert cutter.has_cut
    assert receipts == [AlreadyThere(task.id, task.name, task.payload) for task in batch.tasks]
    stored = onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone()
    assert stored == (len(batch.tasks),)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_async_send_whose_answer_was_lost_is_recognised_too(world, cutter, onlooker, kind):
    batch, words = kind(world)
    cutter.cut_after(words)
    receipts = await world.inbox.accept_async(batch)
    assert cutter.has_cut
    assert receipts == [AlreadyThere(task.id, task.name, task.payload) for task in batch.tasks]
    stored = onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone()
    assert stored == (len(batch.tasks),)


@pytest.mark.parametrize("verdict", ["complete", "fail", "retry", "give back"])
async def test_a_settle_whose_answer_was_lost_is_recognised_when_repeated(world, cutter, verdict):
    world.send()
    running = await world.claim_one()
    verdict = {
        "complete": Complete(),
        "fail": Fail("BOOM"),
        "retry": RetryAt(world.now(), "BOOM"),
        "give back": GiveBack(),
    }[verdict]
    cutter.cut_after(b"COMMIT\0")
    with pytest.raises(BrokerError) as raised:
        await world.settle(running, verdict)
    assert raised.value.fault is BrokerFault.CONNECTION
    written = await world.find(running.id)
    report = await world.settle(running, verdict)
    assert (list(report.lost), list(report.repeated)) == ([], [running.claim])
    assert await world.find(running.id) == written


async def test_a_batch_whose_answer_was_lost_is_recognised_as_a_whole(world, cutter):
    for _ in range(4):
        world.send()
    verdicts = [Complete(), Fail("BOOM"), RetryAt(world.now(), "BOOM"), GiveBack()]
    settlements = [
        Settlement(task.claim, verdict, b"{}")
        for task, verdict in zip(await world.claim(), verdicts, strict=True)
    ]

    async def settle_all():
        async with world.unit_of_work() as tx:
            return await tx.tasks.settle(settlements)

    cutter.cut_after(b"COMMIT\0")
    with pytest.raises(BrokerError):
        await settle_all()
    report = await settle_all()
    assert not report.lost
    assert set(report.repeated) == {settlement.claim for settlement in settlements}


async def test_a_claim_whose_answer_was_lost_is_left_to_the_reaper(world, cutter):
    task_id = world.send()
    cutter.cut_after(b"COMMIT\0")
    with pytest.raises(BrokerError):
        await world.claim()
    world.pass_time(seconds=60)
    await world.beat()
    async with world.unit_of_work() as tx:
        (stale,) = await tx.recovery.stale_running(world.now(), None, 10)
    assert (stale.id, stale.status) == (task_id, TaskStatus.RUNNING)


async def test_a_settle_that_was_cut_off_before_its_commit_has_not_happened(
    world, cutter, onlooker
):
    world.send()
    running = await world.claim_one()
    cutter.cut_after(b"DELETE FROM")
    with pytest.raises(BrokerError):
        await world.settle(running)
    await until_nobody_holds_a_task(onlooker)
    assert not (await world.settle(running)).repeated
    assert (await world.find(running.id)).status is TaskStatus.COMPLETED
