"""The registry of who waits for which task."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from horsies.application.watches import Watch, Watches
from horsies.domain.ids import TaskId

ENDED, OTHER = TaskId(uuid4()), TaskId(uuid4())


async def test_an_end_wakes_exactly_those_who_wait_for_it():
    watches = Watches()
    with watches.watch([ENDED]) as first, watches.watch([OTHER]) as second:
        watches.announce([ENDED])
        assert await first.wait(None)
        assert not await second.wait(0)


async def test_a_watch_of_many_is_rung_once_for_all_of_them():
    watches = Watches()
    with watches.watch([ENDED, OTHER]) as watch:
        watches.announce([ENDED, OTHER])
        assert await watch.wait(None)
        assert not await watch.wait(0)


async def test_an_end_before_the_wait_is_not_missed():
    watches = Watches()
    with watches.watch([ENDED]) as watch:
        watches.announce([ENDED])
        await asyncio.sleep(0)
        assert await watch.wait(0)


async def test_a_watch_that_is_over_is_forgotten():
    watches = Watches()
    with watches.watch([ENDED, OTHER]), watches.watch([ENDED]):
        assert set(watches.watched()) == {ENDED, OTHER}
    assert watches.watched() == []


async def test_what_is_watched_does_not_change_with_the_collection_that_named_it():
    watches, ids = Watches(), {ENDED}
    with watches.watch(ids):
        ids.clear()
    assert watches.watched() == []


async def test_another_thread_can_wake():
    watches = Watches()
    with watches.watch([ENDED]) as watch, ThreadPoolExecutor() as threads:
        threads.submit(watches.announce, [ENDED])
        assert await watch.wait(30)


def test_a_waiter_whose_loop_is_closed_does_no_harm_to_who_announces():
    async def begin() -> Watch:
        return Watch()

    asyncio.run(begin()).ring()
