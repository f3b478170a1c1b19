"""Sends that the database does not take: retryable where a repetition can help, and only there."""

import psycopg
import pytest

from horsies import TaskSendError
from horsies.domain.errors import BrokerFault
from tests.integration.facade.conftest import PATIENCE_MS, Shop

READ_ONLY = "ALTER DATABASE {} SET default_transaction_read_only = {}"


def failed_send(shop: Shop) -> TaskSendError:
    return shop.double.try_send(1).failure()


@pytest.fixture
def away(tmp_path) -> Shop:
    shop = Shop(f"host={tmp_path}")
    yield shop
    shop.app.close()


def test_a_server_that_is_away_may_be_back(away):
    error = failed_send(away)
    assert (error.code, error.fault) == ("ENQUEUE_FAILED", BrokerFault.CONNECTION)
    assert error.retryable
    assert "retry_send(error)" in str(error)


def test_tables_that_are_missing_do_not_appear_by_themselves(shop):
    shop.do("DROP TABLE horsies_tasks CASCADE")
    error = failed_send(shop)
    assert (error.code, error.fault) == ("ENQUEUE_FAILED", BrokerFault.SCHEMA)
    assert not error.retryable
    assert "horsies db migrate" in str(error)
    assert "retry_send" not in str(error)


def test_a_standby_takes_it_once_it_is_the_primary(shop):
    name = shop.ask("SELECT current_database()")
    shop.do(READ_ONLY.format(name, "on"))
    error = failed_send(shop)
    assert (error.fault, error.retryable) == (BrokerFault.READ_ONLY, True)
    shop.do("SET default_transaction_read_only = off", READ_ONLY.format(name, "off"))
    handle = shop.double.retry_send(error)
    assert handle.task_id == error.task_id
    assert shop.run() == 1


def test_sends_and_looks_go_on_after_all_sessions_were_ended(shop):
    handle = shop.double.send(1)
    shop.run()
    assert handle.get(PATIENCE_MS).unwrap() == 2
    for _ in range(3):
        shop.ask(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        again = shop.double.send(2)
        assert handle.info().status == "COMPLETED"
        assert again.cancel() == "CANCELLED"


def test_a_transactional_send_that_failed_is_repeated_with_its_transaction(shop):
    with psycopg.connect(shop.dsn) as caller:
        caller.execute("SET default_transaction_read_only = on")
        caller.commit()
        error = shop.double.with_options(connection=caller).try_send(1).failure()
        assert "roll it back" in str(error)
        caller.rollback()
        with pytest.raises(TaskSendError, match="VALIDATION_FAILED: this send was part of a trans"):
            shop.double.retry_send(error)
        caller.execute("SET default_transaction_read_only = off")
        caller.commit()
        shop.double.with_options(connection=caller).retry_send(error)
        assert shop.ask("SELECT count(*) FROM horsies_tasks") == 0
        caller.commit()
    assert shop.run() == 1
