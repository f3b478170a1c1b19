"""Closing an app: nothing is left behind, and whoever goes on connects anew."""

import asyncio
import threading
from contextlib import suppress

from tests.integration.facade.conftest import PATIENCE_MS, Shop, until


def used(shop: Shop) -> Shop:
    """With every kind of connection open."""
    handle = shop.double.send(1)
    assert handle.get(timeout_ms=0).err_value.error_code == "WAIT_TIMEOUT"
    return shop


def test_closing_leaves_no_session_and_no_thread(shop):
    before = set(threading.enumerate())
    used(shop).app.close()
    assert set(threading.enumerate()) <= before
    asyncio.run(until(shop.is_left_alone))


async def test_closing_does_not_hold_up_the_loop(shop):
    await shop.double.send_async(1)
    await shop.app.aclose()
    await until(shop.is_left_alone)


def test_what_was_never_used_is_closed_twice(shop):
    shop.app.close()
    shop.app.close()


def test_an_app_is_closed_at_the_end_of_its_block(shop):
    with shop.app as same:
        assert same is shop.app
        used(shop)
    asyncio.run(until(shop.is_left_alone))


async def test_an_app_is_closed_at_the_end_of_its_async_block(shop):
    async with shop.app as same:
        assert same is shop.app
        await shop.double.send_async(1)
    await until(shop.is_left_alone)


def test_a_block_that_fails_closes_too(shop):
    with suppress(ZeroDivisionError), shop.app:
        used(shop)
        raise ZeroDivisionError
    asyncio.run(until(shop.is_left_alone))


def test_an_app_that_is_used_again_connects_again(shop):
    used(shop).app.close()
    handle = shop.double.send(2)
    shop.run()
    assert handle.get(PATIENCE_MS).unwrap() == 4


def test_handles_outlive_the_closing(shop):
    handle = shop.double.send(3)
    shop.app.close()
    assert handle.info().status == "PENDING"
    shop.run()
    shop.app.close()
    assert handle.get(PATIENCE_MS).unwrap() == 6


async def test_who_waits_while_it_is_closed_is_told_so(shop):
    handle = await shop.double.send_async(1)
    waiting = asyncio.ensure_future(handle.get_async())
    await until(shop.is_listening)
    await shop.app.aclose()
    error = (await waiting).err_value
    assert (error.error_code, error.message) == ("BROKER_ERROR", "this app is closed")


def test_a_thread_that_waits_while_it_is_closed_is_told_so(shop, threads):
    waiting = threads.submit(shop.double.send(1).get)
    asyncio.run(until(shop.is_listening))
    shop.app.close()
    assert waiting.result().err_value.message == "this app is closed"
