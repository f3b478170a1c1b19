"""How a worker ends when something in it, or the database, does not go on."""

import signal
from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.integration.worker.processes import is_alive, until
from tests.integration.worker.scene import Scene
from tests.integration.worker.stable import Stable, waits_until_said
from tests.postgres import Servers


@pytest.fixture
def stable(scene: Scene) -> Stable:
    return Stable(scene)


@pytest.fixture
def cut_off(scene: Scene, servers: Servers) -> Callable[[], None]:
    """Whoever of ours is in is put out, and nobody is let in again."""
    name = str(conninfo_to_dict(scene.dsn)["dbname"])

    def cut_off() -> None:
        admin = servers.get("embedded").dsn_of("postgres")
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(
                sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name))
            )
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s AND application_name LIKE 'horsies%%'",
                [name],
            )

    return cut_off


def notices(worker):
    waits_until_said(worker, "the database does not answer")


def test_a_loop_that_dies_ends_the_worker_with_its_error(stable):
    worker = stable.start()
    stable.scene.rows("DROP TABLE horsies_suspensions")
    stable.scene.rows("NOTIFY horsies_control, 'look'")
    assert worker.ended() == 1
    assert "the worker ends: the tables are not there" in worker.words


def test_an_idle_worker_may_leave_although_the_database_is_away(stable, cut_off):
    worker = stable.start(LEASE_MS=1_000)
    cut_off()
    notices(worker)
    assert worker.stop() == 0


def test_whose_tries_are_used_up_kills_its_children_and_fails(stable, cut_off):
    worker = stable.start(LEASE_MS=1_000, ATTEMPTS=2)
    _, pid = stable.send_block()
    cut_off()
    assert worker.ended() == 1
    until(lambda: not is_alive(pid), "its child is gone")


def test_a_second_signal_does_not_wait_for_the_database(stable, cut_off):
    worker = stable.start(LEASE_MS=1_000)
    _, pid = stable.send_block()
    cut_off()
    notices(worker)
    worker.signal(signal.SIGTERM)
    waits_until_said(worker, "stopping: 1 tasks are running")
    assert is_alive(pid)
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 1
    until(lambda: not is_alive(pid), "its child is gone")
