"""psycopg's own connections: nothing of theirs is changed, and nothing of ours is halved."""

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, namedtuple_row

from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import BrokerError
from horsies.domain.sending import KeyTaken
from tests.integration.callers.batches import batch_of, keyed, new_task
from tests.integration.callers.kinds import send_async_on, send_on


def state_of(connection):
    return (
        connection.row_factory,
        connection.cursor_factory,
        connection.autocommit,
        connection.isolation_level,
        connection.info.transaction_status,
    )


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_connection_is_left_as_it_was(postgres_dsn, autocommit):
    with psycopg.connect(
        postgres_dsn, autocommit=autocommit, row_factory=namedtuple_row
    ) as connection:
        settings = connection.execute("SHOW lock_timeout").fetchone()
        before = state_of(connection)
        send_on(connection, batch_of(keyed()))
        assert state_of(connection) == before
        assert connection.execute("SHOW lock_timeout").fetchone() == settings


@pytest.mark.parametrize("autocommit", [False, True])
async def test_an_async_connection_is_left_as_it_was(postgres_dsn, autocommit):
    async with await psycopg.AsyncConnection.connect(
        postgres_dsn, autocommit=autocommit, row_factory=dict_row
    ) as connection:
        await connection.execute("SELECT 1")
        before = state_of(connection)
        await send_async_on(connection, batch_of(keyed()))
        assert state_of(connection) == before


@pytest.mark.parametrize("factory", [psycopg.RawCursor, psycopg.ClientCursor])
def test_a_caller_may_prefer_cursors_of_another_kind(postgres_dsn, observer, factory):
    with psycopg.connect(postgres_dsn, cursor_factory=factory) as connection:
        first = keyed()
        send_on(connection, batch_of(first))
        again = send_on(connection, batch_of(keyed()))
        assert again == [KeyTaken(first.id, b"\x01\xff")]
    assert observer.tasks == 1


def test_a_send_of_several_statements_is_one_step_in_autocommit_too(postgres_dsn, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        with pytest.raises(BrokerError):
            send_on(connection, batch_of(keyed()))
        assert observer.keys == 0
        assert connection.info.transaction_status is TransactionStatus.IDLE


async def test_an_async_send_of_several_statements_is_one_step_in_autocommit_too(
    postgres_dsn, observer
):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    connection = await psycopg.AsyncConnection.connect(postgres_dsn, autocommit=True)
    async with connection:
        with pytest.raises(BrokerError):
            await send_async_on(connection, batch_of(keyed()))
    assert observer.keys == 0


def test_a_send_in_autocommit_counts_at_once(postgres_dsn, observer):
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        send_on(connection, batch_of(new_task()))
        assert observer.tasks == 1


def test_a_transaction_block_in_autocommit_holds_the_send(postgres_dsn, observer):
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        with connection.transaction(force_rollback=True):
            send_on(connection, batch_of(keyed()))
        assert (observer.tasks, observer.keys) == (0, 0)


def test_a_savepoint_of_the_callers_undoes_the_send_alone(postgres_dsn, observer):
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute("INSERT INTO orders VALUES ('one')")
        with connection.transaction(force_rollback=True):
            send_on(connection, batch_of(keyed()))
    assert (observer.tasks, observer.keys, observer.orders) == (0, 0, 1)


def test_a_savepoint_of_the_callers_outlives_a_failed_send(postgres_dsn, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute("INSERT INTO orders VALUES ('one')")
        with pytest.raises(BrokerError), connection.transaction():
            send_on(connection, batch_of(new_task()))
    assert observer.orders == 1


def test_a_closed_connection_is_refused(postgres_dsn):
    connection = psycopg.connect(postgres_dsn)
    connection.close()
    with pytest.raises(UnusableConnectionError, match="psycopg Connection: it is closed"):
        send_on(connection, batch_of(new_task()))


async def test_a_closed_async_connection_is_refused(postgres_dsn):
    connection = await psycopg.AsyncConnection.connect(postgres_dsn)
    await connection.close()
    with pytest.raises(UnusableConnectionError, match="psycopg AsyncConnection: it is closed"):
        await send_async_on(connection, batch_of(new_task()))


def test_a_connection_in_pipeline_mode_is_refused(postgres_dsn, observer):
    with psycopg.connect(postgres_dsn) as connection:
        with (
            connection.pipeline(),
            pytest.raises(UnusableConnectionError, match="pipeline mode"),
        ):
            send_on(connection, batch_of(new_task()))
        connection.commit()
    assert observer.tasks == 0
