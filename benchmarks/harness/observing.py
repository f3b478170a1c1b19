"""What a database and the processes on it spend."""

import time
from dataclasses import dataclass
from typing import Self

import psutil
import psycopg
from benchmarks.harness.programs import Programs
from benchmarks.harness.stage import Stage

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Ledger:
    """WAL of the server and transactions of one database, so far."""

    wal_bytes: float
    transactions: int

    @classmethod
    def read(cls, stage: Stage, programs: Programs) -> Self:
        """From another database, so that the reading is not in it."""
        with stage.onlooker("postgres") as connection:
            ((wal, transactions),) = connection.execute(
                """
                SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, xact_commit + xact_rollback
                FROM pg_stat_database WHERE datname = %s
                """,
                [programs.database],
            ).fetchall()
        return cls(float(wal), transactions)


@dataclass(frozen=True, slots=True)
class Idleness:
    """A worker with nothing to do: parts of a core, transactions a second, private megabytes."""

    cpu: float
    transactions: float
    worker_mb: float
    child_mb: float


def watch_idle(
    stage: Stage, programs: Programs, pids: list[int], *, settle: float, seconds: float
) -> Idleness:
    """The time has to pass: that nothing happens is what is measured."""
    time.sleep(settle)
    trees = [process for pid in pids for process in _tree(pid)]
    before, cpu = Ledger.read(stage, programs), sum(map(_cpu_seconds, trees))
    time.sleep(seconds)
    after, spent = Ledger.read(stage, programs), sum(map(_cpu_seconds, trees))
    roots = [_private_mb(process) for process in trees if process.pid in pids]
    others = [_private_mb(process) for process in trees if process.pid not in pids]
    return Idleness(
        cpu=(spent - cpu) / seconds,
        transactions=(after.transactions - before.transactions) / seconds,
        worker_mb=max(roots, default=0.0),
        child_mb=max(others, default=0.0),
    )


def pin_horizon(connection: psycopg.Connection) -> None:
    """Until its transaction ends, no row that is dead after now can be removed."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    connection.execute("SELECT count(*) FROM pg_class")


def _tree(pid: int) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _private_mb(process: psutil.Process) -> float:
    return process.memory_full_info().uss / MEGABYTE
