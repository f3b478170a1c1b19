"""Waiting through the facade: from scripts, threads and loops, with one listener for all."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from horsies import as_completed, gather
from horsies.entrypoints.task import SyncTask
from tests.integration.facade.conftest import PATIENCE_MS, Shop, until

MANY = 1_000


def test_a_script_sends_and_gets(shop):
    handle = shop.double.send(21)
    assert shop.run() == 1
    assert handle.get(PATIENCE_MS).unwrap() == 42


def test_a_thread_that_waits_is_woken_by_the_end(shop, threads):
    handles = [shop.double.send(n) for n in range(20)]
    waiting = [threads.submit(handle.get, PATIENCE_MS) for handle in handles]
    asyncio.run(until(shop.is_listening))
    shop.run()
    assert [each.result().unwrap() for each in waiting] == [2 * n for n in range(20)]
    assert shop.sessions("listener") == 1


async def test_a_thousand_who_wait_on_a_loop_have_one_connection(shop):
    handles = await shop.double.send_many_async({"number": n} for n in range(MANY))
    waiting = [asyncio.ensure_future(handle.get_async(PATIENCE_MS)) for handle in handles]
    await until(shop.is_listening)
    assert shop.sessions("listener") == 1
    assert await asyncio.to_thread(shop.run) == MANY
    results = await asyncio.gather(*waiting)
    assert [result.unwrap() for result in results] == [2 * n for n in range(MANY)]
    assert shop.sessions("listener") == 1


async def test_a_running_loop_may_call_the_sync_verbs(shop, threads):
    handle = shop.double.send(4)
    ending = threads.submit(shop.run)
    assert handle.get(PATIENCE_MS).unwrap() == 8
    assert handle.info().status == "COMPLETED"
    ending.result()


async def test_sync_and_async_verbs_meet_in_one_app(shop):
    handle = await shop.double.send_async(1)
    shop.double.send(2)
    assert await asyncio.to_thread(shop.run) == 2
    assert (await handle.get_async(PATIENCE_MS)).unwrap() == 2
    assert (await handle.info_async()).attempt == 1


def test_one_app_serves_one_loop_after_another(shop):
    for number in range(3):
        handle = asyncio.run(shop.double.send_async(number))
        shop.run()
        assert asyncio.run(handle.get_async(PATIENCE_MS)).unwrap() == 2 * number


def test_who_has_waited_long_enough_is_told_where_the_task_is(shop):
    handle = shop.double.schedule(3600, 1)
    error = handle.get(timeout_ms=10).err_value
    assert error.error_code == "WAIT_TIMEOUT"
    assert "is still PENDING, due at" in error.message


def test_many_are_gathered_and_completed(shop):
    handles = shop.double.send_many({"number": n} for n in range(30))
    shop.run()
    assert [r.unwrap() for r in gather(handles, PATIENCE_MS)] == [2 * n for n in range(30)]
    assert set(as_completed(handles, PATIENCE_MS)) == set(handles)


@pytest.fixture
def polling(open_shop) -> Shop:
    return open_shop(notify=False, listen_url="postgresql://nobody@nowhere.invalid/none")


def test_without_notify_everything_arrives_by_the_one_way_there_is(polling, threads):
    handle = polling.double.send(3)
    waiting = threads.submit(handle.get, PATIENCE_MS)
    asyncio.run(until(polling.is_listening))
    polling.run()
    assert waiting.result().unwrap() == 6


def test_a_schema_of_ones_own_serves_the_whole_facade(open_shop):
    shop = open_shop(schema="jobs_of_ours")
    asyncio.run(shop.app.get_broker().ensure_schema_initialized())
    handle = shop.double.send(5)
    many = shop.double.send_many({"number": n} for n in range(200))
    assert shop.run() == 201
    assert handle.get(PATIENCE_MS).unwrap() == 10
    assert len(gather(many, PATIENCE_MS)) == 200
    assert shop.ask("SELECT count(*) FROM jobs_of_ours.horsies_task_history") == 201


def test_threads_send_at_once(shop, threads: ThreadPoolExecutor):
    double: SyncTask[[int], int] = shop.double
    handles = list(threads.map(double.send, range(200)))
    assert len({handle.task_id for handle in handles}) == 200
    assert shop.run() == 200


def test_a_handle_is_rebuilt_and_a_task_cancelled(shop):
    handle = shop.double.schedule(60, 1)
    again = shop.app.handle(str(handle.task_id))
    assert again.cancel() == "CANCELLED"
    assert again.cancel() == "ALREADY_TERMINAL"
    assert handle.get(PATIENCE_MS).err_value.error_code == "TASK_CANCELLED"
    anew = handle.retry()
    shop.run()
    assert (anew.get(PATIENCE_MS).unwrap(), anew.info().retry_of) == (2, handle.task_id)
