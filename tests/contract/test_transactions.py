"""Units of work: all or nothing, safe among threads and tasks, and heard by those who wait."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from threading import Event

import pytest

from horsies.domain.outcome import Complete
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.sending import Batch
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus


class Abort(Exception):  # noqa: N818 - a test's own signal
    pass


async def test_an_exception_undoes_everything(world):
    task_id = world.send()
    before = await world.find(task_id)
    order = ClaimOrder(world.worker, 1, ((Share("default", 1),),), start=True)

    async def work_and_fail() -> None:
        async with world.unit_of_work() as tx:
            (task,) = await tx.tasks.claim(order)
            await tx.tasks.settle([Settlement(task.claim, Complete(), b"1")])
            await tx.tasks.insert([world.new_task()])
            raise Abort

    with pytest.raises(Abort):
        await work_and_fail()
    assert await world.find(task_id) == before
    assert [task.id for task in await world.claim()] == [task_id]


async def test_an_undone_promotion_can_be_done_again(world):
    world.send(delay=timedelta(seconds=1))
    world.pass_time(seconds=1)

    async def promote_and_fail() -> None:
        async with world.unit_of_work() as tx:
            assert await tx.tasks.promote(["default"], 10) == 1
            raise Abort

    with pytest.raises(Abort):
        await promote_and_fail()
    assert await world.claim() == []
    assert await world.promote() == 1
    assert len(await world.claim()) == 1


async def test_a_follow_up_with_a_known_id_is_left_alone(world):
    task = world.new_task(payload=b'{"n":1}')
    world.inbox.accept(Batch(tasks=[task]))
    async with world.unit_of_work() as tx:
        await tx.tasks.insert([task])
    assert len(await world.claim()) == 1


async def test_concurrent_claimers_never_share_a_task(world):
    sent = {world.send() for _ in range(200)}

    async def take_all() -> list:
        worker, mine = world.new_worker(), []
        async with world.elsewhere(world) as there:
            while claimed := await there.claim(3, worker=worker):
                mine += [task.id for task in claimed]
                await asyncio.sleep(0)
        return mine

    with ThreadPoolExecutor(4) as threads:
        shares = list(threads.map(lambda _: asyncio.run(take_all()), range(4)))
    taken = [task_id for share in shares for task_id in share]
    assert len(taken) == len(set(taken))
    assert set(taken) == sent


async def test_threads_can_send_while_others_claim_and_settle(world):
    def produce() -> None:
        for _ in range(50):
            world.send()

    settled = count(1)
    everything = Event()

    async def consume() -> None:
        worker = world.new_worker()
        async with world.elsewhere(world) as there:
            while not everything.is_set():
                for task in await there.claim(5, worker=worker):
                    await there.settle(task)
                    if next(settled) == 100:
                        everything.set()
                await asyncio.sleep(0)

    with ThreadPoolExecutor(4) as threads:
        producers = [threads.submit(produce) for _ in range(2)]
        consumers = [threads.submit(lambda: asyncio.run(consume())) for _ in range(2)]
        try:
            for each in (*producers, *consumers):
                each.result(timeout=60)
        finally:
            everything.set()
    async with world.unit_of_work() as tx:
        assert await tx.archive.counts() == {}


async def test_counts_are_by_queue_and_status(world):
    world.send()
    world.send()
    world.send(queue="other")
    await world.claim_one()
    async with world.unit_of_work() as tx:
        counts = await tx.archive.counts()
    assert counts == {
        ("default", TaskStatus.PENDING): 1,
        ("default", TaskStatus.RUNNING): 1,
        ("other", TaskStatus.PENDING): 1,
    }


async def test_an_end_wakes_who_watches(world):
    world.send()
    task = await world.claim_one()
    with world.completions.watch([task.id]) as watch:
        waiting = asyncio.create_task(watch.wait(30))
        await world.settle(task)
        assert await waiting


async def test_an_end_before_the_wait_is_not_missed(world):
    world.send()
    task = await world.claim_one()
    with world.completions.watch([task.id]) as watch:
        await world.settle(task)
        assert await watch.wait(30)


async def test_an_end_on_another_thread_wakes_who_watches(world):
    world.send()
    task = await world.claim_one()
    with world.completions.watch([task.id]) as watch:

        async def settle_elsewhere() -> None:
            async with world.elsewhere(world) as there:
                await there.settle(task)

        settling = asyncio.to_thread(lambda: asyncio.run(settle_elsewhere()))
        waited, _ = await asyncio.gather(watch.wait(30), settling)
        assert waited


async def test_waiting_in_vain_ends_with_the_time(world):
    task_id = world.send()
    with world.completions.watch([task_id]) as watch:
        assert not await watch.wait(0.01)


async def test_many_can_watch_one_task(world):
    world.send()
    task = await world.claim_one()

    async def wait() -> bool:
        with world.completions.watch([task.id]) as watch:
            return await watch.wait(30)

    waiters = [asyncio.create_task(wait()) for _ in range(100)]
    await asyncio.sleep(0)
    await world.settle(task)
    assert all(await asyncio.gather(*waiters))
