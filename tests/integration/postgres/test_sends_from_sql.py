"""`horsies_send`: what triggers, psql and other languages send is a task like any other."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from horsies.domain.ids import minted_at
from horsies.domain.task import NOT_AGREED
from horsies.domain.task_lifecycle import TaskStatus

CLOCK = "SELECT clock_timestamp()"


@pytest.fixture
def send(onlooker):
    def send(arguments="", task="'job'"):
        (task_id,) = onlooker.execute(f"SELECT horsies_send({task} {arguments})").fetchone()
        return task_id

    return send


@pytest.fixture
def today(world, onlooker):
    """The world's clock from now on shows the database's time."""

    def follow():
        world.clock.advance_to(onlooker.execute(CLOCK).fetchone()[0])
        return world.now()

    return follow


async def test_what_is_left_out_has_its_default(world, send):
    task = await world.find(send())
    assert (task.name, task.queue, task.payload, task.priority) == ("job", "default", b"{}", 50)
    assert (task.status, task.claimable, task.terms) == (TaskStatus.PENDING, True, NOT_AGREED)
    assert (task.good_until, task.headers) == (None, None)


async def test_what_is_given_is_kept(world, send):
    task_id = send(
        """, args => '{"n": 1}', queue => 'mail', priority => 7,
        good_until => '2030-01-01Z', headers => '{"trace": "a"}'"""
    )
    task = await world.find(task_id)
    assert (task.payload, task.queue, task.priority) == (b'{"n": 1}', "mail", 7)
    assert task.good_until == datetime(2030, 1, 1, tzinfo=UTC)
    assert task.headers == {"trace": "a"}


async def test_it_is_claimed_and_ends_like_any_other(world, send, today):
    task_id = send()
    today()
    running = await world.claim_one()
    assert running.id == task_id
    await world.settle(running)
    assert (await world.find(task_id)).status is TaskStatus.COMPLETED


async def test_a_delay_is_counted_from_now(world, send, today):
    before = today()
    task = await world.find(send(", delay => '1 hour'"))
    assert before + timedelta(hours=1) <= task.enqueued_at <= today() + timedelta(hours=1)
    assert await world.claim() == []
    world.pass_time(hours=1)
    assert await world.promote() == 1


async def test_an_eta_is_kept_and_one_in_the_past_is_now(world, send, today):
    later = await world.find(send(", eta => '2090-01-01Z'"))
    assert (later.enqueued_at, later.claimable) == (datetime(2090, 1, 1, tzinfo=UTC), False)
    before = today()
    now = await world.find(send(", eta => '2000-01-01Z'"))
    assert before <= now.enqueued_at
    assert now.claimable


async def test_a_key_names_one_task_however_often_it_is_sent(send, onlooker):
    key = """, args => '{"a": 1}', idempotency_key => 'k'"""
    assert send(key) == send(key)
    assert onlooker.execute("SELECT count(*) FROM horsies_tasks").fetchone() == (1,)


def test_a_key_for_another_call_is_a_conflict(send):
    send(""", args => '{"a": 1}', idempotency_key => 'k'""")
    with pytest.raises(psycopg.errors.UniqueViolation, match="names another call"):
        send(""", args => '{"a": 2}', idempotency_key => 'k'""")


def test_a_key_belongs_to_one_task_name(send):
    key = ", idempotency_key => 'k'"
    assert send(key, task="'one'") != send(key, task="'other'")


def test_a_key_is_free_again_after_its_window(send):
    key = ", idempotency_key => 'k', idempotency_window => '0 seconds'"
    assert send(key) != send(key)


@pytest.mark.parametrize(
    "arguments",
    [
        ", args => NULL",
        ", args => '[1]'",
        """, args => '"text"'""",
        ", delay => '1 second', eta => now()",
    ],
)
def test_what_no_task_could_take_is_refused_in_words(send, arguments):
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="horsies_send: "):
        send(arguments)


@pytest.mark.parametrize("arguments", [", priority => 0", ", priority => 101", ", queue => ''"])
def test_what_the_table_refuses_is_refused(send, arguments):
    with pytest.raises(psycopg.errors.CheckViolation):
        send(arguments)


def test_a_refused_send_leaves_its_key_free(send, onlooker):
    with pytest.raises(psycopg.errors.CheckViolation):
        send(", priority => 0, idempotency_key => 'k'")
    assert send(", idempotency_key => 'k'")


async def test_it_goes_with_the_caller_s_transaction(dsn, world):
    with psycopg.connect(dsn) as caller:
        caller.execute("SELECT horsies_send('job')")
        caller.rollback()
    async with world.unit_of_work() as tx:
        assert await tx.archive.counts() == {}


async def test_it_is_announced(dsn, send):
    with psycopg.connect(dsn, autocommit=True) as listener:
        listener.execute("LISTEN horsies_task_new")
        send(", queue => 'mail'")
        (heard,) = listener.notifies(timeout=30, stop_after=1)
    assert heard.payload == "mail"


def test_ids_are_of_version_seven_and_in_the_order_of_time(onlooker):
    (before,) = onlooker.execute(CLOCK).fetchone()
    rows = onlooker.execute("SELECT horsies_uuid7() FROM generate_series(1, 2000)").fetchall()
    (after,) = onlooker.execute(CLOCK).fetchone()
    ids = [each for (each,) in rows]
    assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}
    minted = [minted_at(each) for each in ids]
    assert minted == sorted(minted)
    millisecond = timedelta(milliseconds=1)
    assert before - millisecond <= minted[0] <= minted[-1] <= after + millisecond
    assert len(set(ids)) == len(ids)
