"""SQLAlchemy: what it adds to a connection, and how it can be unfit for a send."""

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.dialects.postgresql import asyncpg, psycopg
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from horsies.adapters.postgres.sqlalchemy_caller import _clause
from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import BrokerError, BrokerFault
from tests.integration.callers.batches import batch_of, keyed, new_task
from tests.integration.callers.kinds import async_engine_for, engine_for, send_async_on, send_on

DRIVERS = ["psycopg", "asyncpg"]


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    name: Mapped[str] = mapped_column(primary_key=True)


def test_a_send_does_not_flush_the_session(postgres_dsn, observer):
    with engine_for(postgres_dsn) as engine, Session(engine) as session:
        order = Order(name="one")
        session.add(order)
        send_on(session, batch_of(new_task()))
        assert order in session.new
        session.commit()
    assert (observer.orders, observer.tasks) == (1, 1)


def test_a_nested_transaction_undoes_the_send_alone(postgres_dsn, observer):
    with engine_for(postgres_dsn) as engine, Session(engine) as session:
        session.add(Order(name="one"))
        with session.begin_nested() as nested:
            send_on(session, batch_of(keyed()))
            nested.rollback()
        session.commit()
    assert (observer.orders, observer.tasks, observer.keys) == (1, 0, 0)


def test_a_nested_transaction_outlives_a_failed_send(postgres_dsn, observer):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    with engine_for(postgres_dsn) as engine, Session(engine) as session:
        session.add(Order(name="one"))
        with pytest.raises(BrokerError), session.begin_nested():
            send_on(session, batch_of(new_task()))
        session.commit()
    assert observer.orders == 1


def test_a_transaction_that_is_managed_stays_so(postgres_dsn, observer):
    with engine_for(postgres_dsn) as engine:
        with engine.begin() as connection:
            before = connection.get_transaction()
            send_on(connection, batch_of(keyed()))
            assert connection.get_transaction() is before
            assert observer.tasks == 0
        assert observer.tasks == 1


async def test_an_async_transaction_that_is_managed_stays_so(postgres_dsn, observer):
    engine = async_engine_for("asyncpg", postgres_dsn)
    async with AsyncSession(engine) as session, session.begin() as managed:
        await send_async_on(session, batch_of(keyed()))
        assert session.get_transaction() is managed
        assert observer.tasks == 0
    assert observer.tasks == 1
    await engine.dispose()


async def test_a_session_inside_run_sync_takes_the_sync_verb(postgres_dsn, observer):
    engine = async_engine_for("asyncpg", postgres_dsn)
    async with AsyncSession(engine) as session:
        await session.run_sync(send_on, batch_of(new_task()))
        await session.commit()
    assert observer.tasks == 1
    await engine.dispose()


@pytest.mark.filterwarnings("ignore:coroutine 'connect' was never awaited")  # SQLAlchemy's own
async def test_a_session_of_an_async_engine_is_refused_outside_run_sync(postgres_dsn):
    engine = async_engine_for("asyncpg", postgres_dsn)
    with pytest.raises(UnusableConnectionError, match="use send_async"):
        send_on(AsyncSession(engine).sync_session, batch_of(new_task()))
    await engine.dispose()


def test_autocommit_is_refused(postgres_dsn, observer):
    with (
        engine_for(postgres_dsn, isolation_level="AUTOCOMMIT") as engine,
        engine.connect() as connection,
        pytest.raises(UnusableConnectionError, match="AUTOCOMMIT"),
    ):
        send_on(connection, batch_of(new_task()))
    assert observer.tasks == 0


@pytest.mark.parametrize("driver", DRIVERS)
async def test_autocommit_is_refused_in_async_code(postgres_dsn, driver):
    engine = async_engine_for(driver, postgres_dsn, isolation_level="AUTOCOMMIT")
    async with AsyncSession(engine) as session:
        with pytest.raises(UnusableConnectionError, match="AUTOCOMMIT"):
            await send_async_on(session, batch_of(new_task()))
    await engine.dispose()


def test_a_session_of_another_database_is_refused_and_not_begun():
    engine = create_engine("sqlite://")
    with Session(engine) as session:
        with pytest.raises(UnusableConnectionError, match="sqlite, not to PostgreSQL"):
            send_on(session, batch_of(new_task()))
        assert not session.in_transaction()
    engine.dispose()


def test_a_session_of_no_database_is_refused():
    with Session() as session, pytest.raises(UnusableConnectionError, match="bind"):
        send_on(session, batch_of(new_task()))


def test_a_session_that_may_not_begin_is_refused(postgres_dsn):
    with (
        engine_for(postgres_dsn) as engine,
        Session(engine, autobegin=False) as session,
        pytest.raises(UnusableConnectionError, match=r"call session\.begin"),
    ):
        send_on(session, batch_of(new_task()))


def test_a_closed_connection_is_refused(postgres_dsn):
    with engine_for(postgres_dsn) as engine:
        connection = engine.connect()
        connection.close()
        with pytest.raises(UnusableConnectionError, match=r"sqlalchemy Connection: .* closed"):
            send_on(connection, batch_of(new_task()))


async def test_a_connection_that_was_not_started_is_refused(postgres_dsn):
    engine = async_engine_for("psycopg", postgres_dsn)
    with pytest.raises(UnusableConnectionError, match="sqlalchemy AsyncConnection"):
        await send_async_on(engine.connect(), batch_of(new_task()))


def test_an_engine_is_refused(postgres_dsn):
    with (
        engine_for(postgres_dsn) as engine,
        pytest.raises(UnusableConnectionError, match="sqlalchemy Engine: send and send_many take"),
    ):
        send_on(engine, batch_of(new_task()))


def test_a_failed_flush_must_be_rolled_back_before_a_send(postgres_dsn, observer):
    with engine_for(postgres_dsn) as engine, Session(engine) as session:
        session.execute(text("INSERT INTO orders VALUES ('one')"))
        session.add(Order(name="one"))
        with pytest.raises(Exception, match="duplicate"):
            session.flush()
        with pytest.raises(UnusableConnectionError, match="rolled back"):
            send_on(session, batch_of(new_task()))


def test_a_pool_without_a_free_connection_is_busy(postgres_dsn):
    with (
        engine_for(postgres_dsn, pool_size=1, max_overflow=0, pool_timeout=0.01) as engine,
        engine.connect(),
        Session(engine) as session,
    ):
        with pytest.raises(BrokerError) as caught:
            send_on(session, batch_of(new_task()))
        assert caught.value.fault is BrokerFault.BUSY


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_server_that_is_not_there_is_a_lost_connection(tmp_path, driver):
    engine = create_async_engine(f"postgresql+{driver}://u@/d?host={tmp_path}&port=1")
    async with AsyncSession(engine) as session:
        with pytest.raises(BrokerError) as caught:
            await send_async_on(session, batch_of(new_task()))
    assert caught.value.fault is BrokerFault.CONNECTION


@pytest.mark.parametrize("driver", DRIVERS)
async def test_no_value_of_a_failed_send_is_in_its_traceback(postgres_dsn, observer, driver):
    observer.connection.execute("ALTER TABLE horsies_tasks RENAME TO elsewhere")
    engine = async_engine_for(driver, postgres_dsn)
    async with AsyncSession(engine) as session:
        with pytest.raises(BrokerError) as caught:
            await send_async_on(session, batch_of(new_task(payload=b'{"secret":1}')))
    assert caught.value.__suppress_context__
    assert "secret" not in str(caught.value.__cause__)
    await engine.dispose()


@pytest.mark.parametrize("dialect", [asyncpg.dialect(), psycopg.dialect()])
def test_places_casts_percents_and_colons_survive(dialect):
    clause = _clause("""SELECT %(a)s::text, '5 %%', ":b", 'c:d', %(a)s""")
    statement = str(clause.compile(dialect=dialect))
    place, percent = ("$1", "%") if dialect.driver == "asyncpg" else ("%(a)s", "%%")
    assert statement == f"""SELECT ({place})::text, '5 {percent}', ":b", 'c:d', ({place})"""
