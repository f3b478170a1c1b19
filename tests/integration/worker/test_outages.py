"""RELIABILITY 12: whatever happens to PostgreSQL, what runs goes on, and its result is written."""

import time
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

from horsies import gather
from horsies.adapters.embedded.server import EmbeddedServer
from tests.integration.worker import jobs
from tests.integration.worker.processes import until
from tests.integration.worker.scene import PATIENCE_MS, Scene, happens, scene_on
from tests.postgres import FAST, migrate
from tests.proof import history, invariants

LEASE_SECONDS = 1.0
NEVER_MS = 300_000


@pytest.fixture
def server(reachable_project: Path) -> Generator[EmbeddedServer]:
    """One that may be stopped: nobody else uses it."""
    server = EmbeddedServer(reachable_project, settings=FAST)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def private(server: EmbeddedServer, tmp_path: Path) -> Generator[Scene]:
    migrate(server.dsn)
    with scene_on(server.dsn, tmp_path) as scene:
        yield scene


def _outlast_a_lease() -> None:
    """Nothing can tell of it while there is no database."""
    time.sleep(2 * LEASE_SECONDS)


def _kill_backends(scene: Scene, name: str = "horsies") -> int:
    return len(
        scene.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name ~ %s",
            f"^{name}",
        )
    )


def test_a_result_made_during_an_outage_is_written_afterwards_and_nobody_alive_is_called_stale(
    private: Scene, server: EmbeddedServer
):
    history.install(private.dsn)
    ends, goes_on = private.file("ends"), private.file("goes_on")
    workers = [private.start("--processes", "2") for _ in range(2)]
    short, long = jobs.block.send(ends), jobs.block_async.send(goes_on)
    private.until_begun("block")
    private.until_begun("block_async")
    server.stop()
    happens(ends)
    until(lambda: private.lines("end", "block"), "it ends while there is no database")
    _outlast_a_lease()
    server.start()
    assert short.get(PATIENCE_MS).ok_value == "unblocked"
    assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3
    happens(goes_on)
    assert long.get(PATIENCE_MS).ok_value == "unblocked"
    assert [handle.info().attempt for handle in (short, long)] == [1, 1]
    assert [worker.process.poll() for worker in workers] == [None, None]
    tasks = {"block": short.task_id, "block_async": long.task_id}
    invariants.hold(history.read(private.dsn), private.lines(), tasks)


def test_a_worker_that_starts_before_its_database_waits_for_it(
    private: Scene, server: EmbeddedServer
):
    handle = jobs.add.send(1, 2)
    server.stop()
    worker = private.start("--processes", "1", serves=False)
    until(lambda: "trying again" in worker.words, "it has noticed")
    server.start()
    assert handle.get(PATIENCE_MS).ok_value == 3


def test_a_read_only_window_is_waited_out(private: Scene):
    path = private.file("ends")
    worker = private.start("--processes", "1")
    handle = jobs.block.send(path)
    private.until_begun("block")
    private.rows("ALTER SYSTEM SET default_transaction_read_only = on")
    private.rows("SELECT pg_reload_conf()")
    until(lambda: "accepts no writes" in worker.words, "it has noticed")
    happens(path)
    until(lambda: private.lines("end", "block"), "it has ended")
    private.rows("ALTER SYSTEM RESET default_transaction_read_only")
    private.rows("SELECT pg_reload_conf()")
    assert handle.get(PATIENCE_MS).ok_value == "unblocked"
    assert handle.info().attempt == 1


def test_killed_backends_cost_no_task_and_double_none(scene: Scene):
    history.install(scene.dsn)
    worker = scene.start("--processes", "2", PREFETCH=4)
    tasks = {f"pid{n}": jobs.pid.send(f"pid{n}") for n in range(40)}
    for n in (1, 10, 20, 30):
        until(lambda n=n: len(scene.lines("begin")) >= n, "work goes on")
        _kill_backends(scene, "horsies (engine|ear)")
    assert all(result.is_ok() for result in gather(tasks.values(), PATIENCE_MS))
    assert len(scene.lines("begin")) == len(tasks)
    ids = {name: handle.task_id for name, handle in tasks.items()}
    invariants.hold(history.read(scene.dsn), scene.lines(), ids)
    invariants.nobody_idles_in_a_transaction(scene.dsn)
    assert worker.stop() == 0


def test_a_killed_listener_is_replaced_and_nothing_is_missed(scene: Scene):
    scene.start("--processes", "1", POLL_MS=NEVER_MS)
    jobs.add.send(1, 2).get(PATIENCE_MS)
    until(lambda: _kill_backends(scene, "horsies ear"), "it listens")
    assert jobs.add.send(3, 4).get(PATIENCE_MS).ok_value == 7


def test_a_row_that_somebody_holds_keeps_nothing_else_from_being_settled_or_claimed(scene: Scene):
    path = scene.file("ends")
    scene.start("--processes", "2")
    held, free = jobs.block.send(path, "held"), jobs.block.send(path, "free")
    scene.until_begun("held")
    scene.until_begun("free")
    with psycopg.connect(scene.dsn) as holder:
        holder.execute("SELECT FROM horsies_tasks WHERE id = %s FOR UPDATE", [held.task_id])
        happens(path)
        assert free.get(PATIENCE_MS).ok_value == "unblocked"
        assert jobs.add.send(1, 2).get(PATIENCE_MS).ok_value == 3
    assert held.get(PATIENCE_MS).ok_value == "unblocked"
