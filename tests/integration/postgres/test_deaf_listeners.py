"""A listener that never listens fills the notification queue: sends and settles go on."""

import psycopg
import pytest

from horsies.adapters.embedded.server import EmbeddedServer
from horsies.domain.outcome import RetryAt
from tests.contract.conftest import postgres_world
from tests.postgres import FAST, migrate

USAGE = "SELECT pg_notification_queue_usage()"


@pytest.fixture
def deaf_dsn(reachable_project):
    """A server whose notification queue is more than half full, and stays so."""
    settings = FAST | {"max_notify_queue_pages": "64"}
    with EmbeddedServer(reachable_project, settings=settings) as server:
        migrate(server.dsn)
        with (
            psycopg.connect(server.dsn, autocommit=True) as deaf,
            psycopg.connect(server.dsn, autocommit=True) as loud,
        ):
            deaf.execute("LISTEN anything")
            deaf.execute("BEGIN")
            deaf.execute("SELECT 1")
            while loud.execute(USAGE).fetchone()[0] <= 0.5:
                loud.execute("SELECT pg_notify('anything', repeat('x', 7999))")
            yield server.dsn


async def test_a_full_notification_queue_keeps_nobody_from_sending_and_settling(deaf_dsn):
    async with postgres_world(deaf_dsn) as world:
        task_id = world.send()
        await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"))
        running = await world.claim_one()
        assert running.id == task_id
        assert not (await world.settle(running)).lost


async def test_an_end_is_seen_though_it_could_not_be_announced(deaf_dsn):
    async with postgres_world(deaf_dsn, poll_seconds=0.05) as world:
        world.send()
        running = await world.claim_one()
        with world.completions.watch([running.id]) as watch:
            await world.settle(running)
            assert await watch.wait(30)
