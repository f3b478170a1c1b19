"""Django: its atomic blocks hold sends, and its connections belong to threads."""

import asyncio
import threading
from collections.abc import Generator

import pytest
from asgiref.sync import sync_to_async
from django import db
from django.core import cache
from django.db import transaction
from django.db.models import Q

from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import BrokerError
from tests.integration.callers.batches import batch_of, keyed, new_task
from tests.integration.callers.django_kinds import django_database
from tests.integration.callers.kinds import send_async_on, send_on


@pytest.fixture(autouse=True)
def django(postgres_dsn: str) -> Generator[None]:
    with django_database(postgres_dsn):
        yield


def test_an_atomic_block_holds_the_send(observer):
    with transaction.atomic():
        send_on("default", batch_of(keyed()))
        assert observer.tasks == 0
    assert (observer.tasks, observer.keys) == (1, 1)


def test_an_atomic_block_that_fails_leaves_nothing(observer):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        _send_then_fail()
    assert (observer.tasks, observer.keys) == (0, 0)


def test_a_nested_block_undoes_the_send_alone(observer):
    with transaction.atomic():
        _order()
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            _send_then_fail()
    assert (observer.tasks, observer.keys, observer.orders) == (0, 0, 1)


def test_a_nested_block_outlives_a_failed_send(observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with transaction.atomic():
        _order()
        with pytest.raises(BrokerError), transaction.atomic():
            send_on("default", batch_of(new_task()))
    assert observer.orders == 1


def test_a_block_cannot_go_on_after_a_failed_send(observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with transaction.atomic():
        _order()
        with pytest.raises(BrokerError):
            send_on("default", batch_of(new_task()))
        with pytest.raises(transaction.TransactionManagementError):
            _order()
        with pytest.raises(UnusableConnectionError, match="end of the 'atomic' block"):
            send_on("default", batch_of(new_task()))
    assert observer.orders == 0


def test_a_send_outside_a_block_is_one_step_and_leaves_autocommit(observer):
    send_on("default", batch_of(keyed("first")))
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with pytest.raises(BrokerError):
        send_on("default", batch_of(keyed("second")))
    assert observer.keys == 1
    assert transaction.get_autocommit()
    assert not db.connection.in_atomic_block
    assert not db.connection.needs_rollback


def test_a_manual_transaction_is_left_manual(observer):
    transaction.set_autocommit(False)
    send_on("default", batch_of(keyed()))
    assert not transaction.get_autocommit()
    assert not db.connection.in_atomic_block
    assert observer.tasks == 0


async def test_async_code_sends_in_the_thread_of_its_connections(observer):
    block = transaction.atomic()
    await sync_to_async(block.__enter__)()
    await send_async_on("default", batch_of(keyed()))
    assert observer.tasks == 0
    await sync_to_async(block.__exit__)(None, None, None)
    assert observer.tasks == 1


async def test_the_current_connection_in_async_code_is_that_of_the_same_thread(observer):
    await send_async_on(db.connection, batch_of(new_task()))
    assert observer.tasks == 1


async def test_the_sync_verb_in_async_code_is_refused():
    with pytest.raises(UnusableConnectionError, match="use send_async"):
        send_on("default", batch_of(new_task()))


def test_a_connection_of_another_thread_is_refused():
    mine = db.connections["default"]
    refused: list[Exception] = []

    def use() -> None:
        try:
            send_on(mine, batch_of(new_task()))
        except UnusableConnectionError as error:
            refused.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert "connection='default' suits any thread" in str(refused[0])


def test_a_loops_own_connection_is_refused_in_async_code():
    mine = db.connections["default"]
    with pytest.raises(UnusableConnectionError, match="another thread's"):
        asyncio.run(send_async_on(mine, batch_of(new_task())))


def test_an_unknown_alias_is_refused_unquoted():
    with pytest.raises(UnusableConnectionError, match="no such database, but: default, lite") as e:
        send_on("postgresql://me:secret@host/db", batch_of(new_task()))
    assert "secret" not in str(e.value)


def test_a_database_of_another_kind_is_refused():
    with pytest.raises(UnusableConnectionError, match="sqlite, not to PostgreSQL"):
        send_on("lite", batch_of(new_task()))


def test_other_things_of_djangos_are_refused():
    for thing in [cache.cache, db.connections, Q()]:
        with pytest.raises(UnusableConnectionError, match="send and send_many take"):
            send_on(thing, batch_of(new_task()))


def _send_then_fail() -> None:
    send_on("default", batch_of(keyed()))
    raise ZeroDivisionError


def _order() -> None:
    with db.connection.cursor() as cursor:
        cursor.execute("INSERT INTO orders VALUES ('one')")
