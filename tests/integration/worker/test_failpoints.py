"""A worker that dies right before or right after any of its commits: nothing breaks.

The cases share a template with the same work in it, and run side by side: most of their time is
spent waiting for a lease to end.
"""

import os
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.integration.worker import jobs
from tests.integration.worker.processes import children_of, is_alive, until
from tests.integration.worker.scene import Scene, scene_on
from tests.postgres import Server, Servers
from tests.proof import history, invariants
from tests.proof.deadly_line import DeadlyLine, When

LAST = 22
THOROUGH = "HORSIES_THOROUGH" in os.environ
"""Right after a commit is nearly right before the next, so a quarter does for every day."""

PREFETCHES = (0, 3)
"""Without any, settling and claiming are one statement that commits by itself."""

AT_ONCE = 4
ALWAYS = "/"


def _is_for_every_day(point: int, when: When, prefetch: int) -> bool:
    turn = (When.BEFORE if point % 2 == 0 else When.AFTER, PREFETCHES[point // 2 % 2])
    return (when, prefetch) == turn


CASES = [
    (point, when, prefetch)
    for point in range(1, LAST + 1)
    for when in When
    for prefetch in PREFETCHES
    if THOROUGH or _is_for_every_day(point, when, prefetch)
]


Case: TypeAlias = tuple[int, When, int]


@dataclass(frozen=True)
class Work:
    """What every case begins with."""

    template: str
    tasks: dict[str, UUID]


@dataclass(frozen=True)
class Death:
    """What came of one case."""

    scene: Scene
    line: DeadlyLine
    history: history.History
    processes: list[int]


@pytest.fixture(scope="module")
def work(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Generator[Work]:
    folder = tmp_path_factory.mktemp("work")
    with servers.get().database() as dsn, scene_on(dsn, folder):
        history.install(dsn)
        handles = {
            "plain": jobs.pid.send("plain"),
            "retrying": jobs.trouble.send("retrying"),
            "handled": jobs.boom_handled.send("handled"),
            "crashing": jobs.die_once.send(ALWAYS, "crashing"),
            "again": jobs.block_with_retry.send(ALWAYS, "again"),
            "async": jobs.block_async.send(ALWAYS, "async"),
            "delayed": jobs.pid.with_options(delay=0.5).send("delayed"),
        }
        jobs.app.close()
        tasks = {name: handle.task_id for name, handle in handles.items()}
        yield Work(str(conninfo_to_dict(dsn)["dbname"]), tasks)


@pytest.fixture(scope="module")
def deaths(
    servers: Servers, work: Work, tmp_path_factory: pytest.TempPathFactory
) -> Generator[dict[Case, Future[Death]]]:
    server = servers.get()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {
            case: threads.submit(_die, server, work, tmp_path_factory.mktemp("death"), case)
            for case in CASES
        }


def _die(server: Server, work: Work, folder: Path, case: Case) -> Death:
    point, when, prefetch = case
    with server.database(work.template) as dsn, DeadlyLine(dsn, point, when) as line:
        scene = Scene(dsn, folder)
        try:
            return _live_on(scene, line, prefetch)
        finally:
            scene.clean_up()


def _live_on(scene: Scene, line: DeadlyLine, prefetch: int) -> Death:
    """Until the work is done, if not by the first worker then by another."""
    first = scene.start("--processes", "1", dsn=line.dsn, serves=False, PREFETCH=prefetch)
    processes: set[int] = set()

    def is_done() -> bool:
        processes.update(children_of(first.pid))
        return not scene.rows("SELECT 1 FROM horsies_tasks")

    until(lambda: is_done() or first.process.poll() is not None, "it is done or dead")
    if line.has_killed:
        first.ended()
        second = scene.start("--processes", "1", serves=False, PREFETCH=prefetch)
        until(is_done, f"the work is done after {line.kinds}")
        processes.update(children_of(second.pid))
        second.stop()
    else:
        first.stop()
    invariants.nothing_leaks(scene.dsn, processes, is_alive)
    return Death(scene, line, history.read(scene.dsn), list(processes))


@pytest.mark.parametrize("case", CASES, ids=lambda it: f"{it[1].value} {it[0]}, {it[2]} ahead")
def test_a_worker_may_die_at_any_commit(deaths: dict[Case, Future[Death]], work: Work, case: Case):
    death = deaths[case].result()
    assert death.line.has_killed == (len(death.line.kinds) >= case[0])
    invariants.hold(death.history, death.scene.lines(), work.tasks)
    _a_failure_has_one_handler(death.history)


def test_the_matrix_covers_a_whole_life(deaths: dict[Case, Future[Death]]):
    assert not deaths[CASES[-1]].result().line.has_killed


def _a_failure_has_one_handler(told: history.History) -> None:
    failed = [t for t in told.transitions if t.name == "boom_handled" and t.now == "FAILED"]
    handlers = {t.task for t in told.transitions if t.name == "handler"}
    assert len(handlers) == len(failed)
