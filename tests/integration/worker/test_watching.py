"""RELIABILITY 23: a worker of which a part has died does not go on without it."""

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.integration.worker import jobs
from tests.integration.worker.processes import is_alive
from tests.integration.worker.scene import Scene


@pytest.mark.parametrize(
    ("part", "table"),
    [
        ("work", "horsies_tasks"),
        ("heart", "horsies_heartbeats"),
        ("reaper", "horsies_idempotency_keys"),
    ],
)
def test_a_loop_that_dies_ends_the_worker_with_an_error(scene: Scene, part: str, table: str):
    worker = scene.start("--processes", "1")
    jobs.block.send(scene.file("never"))
    pid = scene.until_begun("block")
    scene.rows(f"ALTER TABLE {table} RENAME TO {table}_of_before")
    assert worker.ended() == 1
    assert "horsies db migrate" in worker.words  # it says what is wrong
    assert not is_alive(pid)


def test_a_worker_whose_tries_are_used_up_ends_with_an_error_and_its_children_with_it(
    scene: Scene,
):
    worker = scene.start("--processes", "1", TRIES=3)
    jobs.block.send(scene.file("never"))
    pid = scene.until_begun("block")
    _turn_away(scene)
    assert worker.ended() == 1
    assert not is_alive(pid)


def _turn_away(scene: Scene) -> None:
    """Whoever is connected, and whoever comes."""
    name = conninfo_to_dict(scene.dsn)["dbname"]
    with psycopg.connect(scene.dsn, dbname="postgres", autocommit=True) as connection:
        closing = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false")
        connection.execute(closing.format(sql.Identifier(name)))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
