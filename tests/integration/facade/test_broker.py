"""The broker: the operator's verbs, with an app and without one."""

from datetime import timedelta
from uuid import uuid4

import pytest

from horsies import AppConfig, BrokerError, PostgresConfig
from horsies.domain.errors import BrokerFault
from horsies.entrypoints.broker import PostgresBroker
from tests.integration.facade.conftest import Shop
from tests.postgres import Servers

HOLD = """
UPDATE horsies_tasks SET status = %s, claimable = false, epoch = 1, worker_id = %s,
    claimed_at = clock_timestamp() - %s::interval, attempt = %s,
    started_at = clock_timestamp() - %s::interval
WHERE id = %s RETURNING id
"""
HOUR_MS = 3_600_000


def held(shop: Shop, status: str, silence: timedelta) -> str:
    """A task whose worker has said nothing since then."""
    handle = shop.double.send(1)
    begun = status == "RUNNING"
    started = silence if begun else None
    shop.ask(HOLD, status, uuid4(), silence, int(begun), started, handle.task_id)
    return str(handle.task_id)


@pytest.fixture
def silent(shop: Shop) -> dict[str, str]:
    ages = {"old": timedelta(hours=2), "new": timedelta(minutes=1)}
    return {
        f"{age} {status}": held(shop, status, silence)
        for age, silence in ages.items()
        for status in ("CLAIMED", "RUNNING")
    }


async def test_stale_tasks_are_listed_with_their_owners(shop, silent):
    stale = await shop.app.get_broker().get_stale_tasks(stale_threshold_minutes=60)
    wanted = {"id", "status", "worker_hostname", "worker_pid", "last_heartbeat_at"}
    assert all(wanted <= task.keys() for task in stale)
    found = {(str(task["id"]), task["status"]) for task in stale}
    assert found == {(silent["old CLAIMED"], "CLAIMED"), (silent["old RUNNING"], "RUNNING")}


async def test_stale_running_tasks_are_failed(shop, silent):
    broker = shop.app.get_broker()
    assert await broker.mark_stale_tasks_as_failed(stale_threshold_ms=HOUR_MS) == 1
    assert await broker.mark_stale_tasks_as_failed(stale_threshold_ms=HOUR_MS) == 0
    result = await shop.app.handle(silent["old RUNNING"]).get_async(0)
    assert result.err_value.error_code == "WORKER_CRASHED"
    info = await shop.app.handle(silent["new RUNNING"]).info_async()
    assert info.status == "RUNNING"


async def test_stale_claimed_tasks_go_back_to_the_queue(shop, silent):
    broker = shop.app.get_broker()
    assert await broker.requeue_stale_claimed(stale_threshold_ms=HOUR_MS) == 1
    assert await broker.requeue_stale_claimed(stale_threshold_ms=HOUR_MS) == 0
    info = await shop.app.handle(silent["old CLAIMED"]).info_async()
    assert (info.status, info.attempt) == ("PENDING", 0)


@pytest.fixture
def bare_dsn(servers: Servers):
    with servers.get().database("template1") as dsn:
        yield dsn


async def test_without_an_app_it_makes_the_tables_once(bare_dsn):
    broker = PostgresBroker.connect_with(PostgresConfig(bare_dsn))
    applied = await broker.migrate()
    assert len(applied) > 1
    assert await broker.migrate() == ()
    await broker.ensure_schema_initialized()
    assert await broker.get_stale_tasks(stale_threshold_minutes=0) == []
    broker.close()


async def test_it_takes_the_configuration_of_an_app(bare_dsn):
    config = AppConfig(broker=PostgresConfig(bare_dsn, schema="jobs"))
    broker = PostgresBroker.connect_with(config)
    await broker.ensure_schema_initialized()
    broker.close()


async def test_tables_of_a_version_that_does_not_fit_are_refused_in_one_sentence(shop):
    shop.do("INSERT INTO horsies_schema (version, oldest_client) VALUES (99, 99)")
    with pytest.raises(BrokerError) as raised:
        await shop.app.get_broker().ensure_schema_initialized()
    assert raised.value.fault is BrokerFault.SCHEMA
    assert "\n" not in str(raised.value)
    assert "version 99" in str(raised.value)
    assert str(raised.value).endswith("upgrade Horsies")


async def test_a_server_that_is_not_there_is_a_broker_error(tmp_path):
    broker = PostgresBroker.connect_with(PostgresConfig(f"host={tmp_path}"))
    with pytest.raises(BrokerError) as raised:
        await broker.get_stale_tasks(stale_threshold_minutes=1)
    assert raised.value.fault is BrokerFault.CONNECTION
    broker.close()
