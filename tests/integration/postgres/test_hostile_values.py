"""What nobody should send, store or swallow; and what becomes of it."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from horsies.adapters.postgres import pool
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Complete
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.sending import Batch
from horsies.domain.task import IdempotencyKey
from tests.contract.conftest import postgres_world


@pytest.mark.parametrize("tiers", [((("a", 2), ("b", 2)),), ((("a", 2),), (("b", 2),))])
async def test_a_claimer_takes_from_another_queue_what_it_cannot_have_from_the_first(world, tiers):
    for queue in ("a", "a", "b", "b"):
        world.send(queue=queue)
        world.pass_time(seconds=1)
    shares = tuple(tuple(Share(*share) for share in tier) for tier in tiers)
    order = ClaimOrder(world.worker, 2, shares, start=True)
    async with world.unit_of_work() as one:
        assert [task.queue for task in await one.tasks.claim(order)] == ["a", "a"]
        async with world.unit_of_work() as other:
            assert [task.queue for task in await other.tasks.claim(order)] == ["b", "b"]


async def test_a_transaction_in_which_a_statement_failed_does_not_end_as_if_it_was_kept(world):
    async def swallow():
        async with world.unit_of_work() as tx:
            await tx.tasks.insert([world.new_task()])
            with pytest.raises(Exception):  # noqa: B017 - whichever
                await tx.tasks.insert([world.new_task(priority=0)])

    with pytest.raises(BrokerError):
        await swallow()


async def test_a_delay_is_as_long_in_the_night_when_clocks_change(dsn, world):
    world.clock.advance_to(datetime(2026, 3, 28, 12, tzinfo=UTC))
    task = world.new_task(delay=timedelta(days=1), idempotency=IdempotencyKey("k", b"f"))
    with psycopg.connect(dsn, options="-c timezone=Europe/Berlin") as caller:
        world.inbox.accept(Batch(tasks=[task], key_window=timedelta(days=1)), caller)
        (expiry,) = caller.execute("SELECT expires_at FROM horsies_idempotency_keys").fetchone()
    assert (await world.find(task.id)).enqueued_at == world.now() + timedelta(hours=24)
    assert expiry == world.now() + timedelta(hours=24)


@pytest.mark.parametrize(
    "arguments",
    [
        "good_until => 'infinity'",
        "good_until => '-infinity'",
        "eta => 'infinity'",
        "eta => '12000-01-01'",
    ],
)
async def test_instants_that_no_client_can_read_are_refused(onlooker, arguments):
    with pytest.raises(psycopg.errors.CheckViolation):
        onlooker.execute(f"SELECT horsies_send('job', {arguments})")


@pytest.mark.parametrize("terms", ["oops", "[]", '{"retry":{"shape":"new"}}', '{"timeout_ms":"x"}'])
async def test_terms_that_nobody_can_read_do_not_stop_the_others(world, onlooker, terms):
    odd, fine = world.send(), world.send()
    onlooker.execute("UPDATE horsies_tasks SET terms = %s WHERE id = %s", [terms, odd])
    assert {task.id for task in await world.claim()} == {odd, fine}


@pytest.mark.parametrize("result", [b'{"ok":"a\x00b"}', b"\xff\xfe", b"\xed\xa0\x80"])
async def test_a_result_that_is_no_text_is_refused_by_its_kind(world, result):
    world.send()
    with pytest.raises(BrokerError) as raised:
        await world.settle(await world.claim_one(), Complete(), result)
    assert raised.value.fault is BrokerFault.REFUSED


@pytest.mark.parametrize(
    "fields", [{"payload": b"\xff"}, {"headers": {"a": "\x00"}}, {"priority": 0}]
)
async def test_a_send_that_no_database_could_hold_is_refused_by_its_kind(world, fields):
    with pytest.raises(BrokerError) as raised:
        world.inbox.accept(Batch(tasks=[world.new_task(**fields)]))
    assert raised.value.fault is BrokerFault.REFUSED


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"host": "/nowhere"}, "/nowhere"),
        ({"dbname": "no_such_database"}, "no_such_database"),
        ({"user": "nobody_we_know"}, "nobody_we_know"),
    ],
)
async def test_a_server_that_cannot_be_used_is_told_with_the_reason(dsn, monkeypatch, wrong, words):
    monkeypatch.setattr(pool, "WAIT_FOR_CONNECTION_SECONDS", 0.3)
    async with postgres_world(make_conninfo(dsn, **wrong)) as world:
        with pytest.raises(BrokerError, match=words) as raised:
            world.inbox.accept(Batch(tasks=[world.new_task()]))
        assert raised.value.fault is BrokerFault.CONNECTION
        with pytest.raises(BrokerError, match=words) as raised:
            await world.find(world.ids.task_id())
        assert raised.value.fault is BrokerFault.CONNECTION


async def test_a_pool_whose_connections_are_all_in_use_is_busy(dsn, monkeypatch):
    monkeypatch.setattr(pool, "WAIT_FOR_CONNECTION_SECONDS", 0.1)
    async with postgres_world(dsn, pool_max_size=1) as world, world.unit_of_work():
        with pytest.raises(BrokerError) as raised:
            await world.find(world.ids.task_id())
    assert raised.value.fault is BrokerFault.BUSY


@pytest.mark.parametrize(
    "arguments",
    [
        "'job', queue => repeat('q', 64)",
        "'job', queue => ''",
        "repeat('j', 256)",
        "'job', idempotency_key => repeat('k', 256)",
    ],
)
async def test_names_that_the_facade_would_refuse_are_refused_to_sql_too(onlooker, arguments):
    with pytest.raises(psycopg.errors.CheckViolation):
        onlooker.execute(f"SELECT horsies_send({arguments})")
