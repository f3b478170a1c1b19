"""Sends against a bare driver, and claims beside millions of other tasks, on a durable PostgreSQL.

python benchmarks/postgres_sends_and_claims.py [ROWS_BESIDE]

Each line is one interleaved run (ours, theirs, ours, ...), so that noise meets both; figures are
medians. Only the ratios mean something: they say how many times as fast Horsies is as what it is
measured against.
"""

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from uuid import uuid4

import psycopg
from uuid_utils.compat import uuid7

from horsies import Horsies, TaskError, TaskResult
from horsies.adapters.embedded.server import EmbeddedServer
from horsies.adapters.postgres.engine import PostgresEngine
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.migrate import PostgresSchema
from horsies.domain.ids import WorkerId
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.task import Claim
from horsies.entrypoints.task import SyncTask

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
SENDS_A_ROUND, ROUNDS_OF_SENDS = 50, 60
BATCH, ROUNDS_OF_BATCHES = 10_000, 15
READY, ROUNDS_OF_CLAIMS = 1_000, 300
CLAIM_SIZES = (10, 100)

COLUMNS = """id, task_name, queue_name, args, priority, terms, result_ttl, good_until, headers,
    retry_of, sent_at, enqueued_at, claimable"""
RAW_INSERT = f"""
INSERT INTO horsies_tasks ({COLUMNS})
VALUES (%s, 'noop', 'default', %s, 50, '{{}}', NULL, NULL, NULL, NULL,
    statement_timestamp(), statement_timestamp(), true)
"""  # noqa: S608 - constants of ours
RAW_COPY = f"COPY horsies_tasks ({COLUMNS}) FROM STDIN"
FILL_LIVE = f"""
INSERT INTO horsies_tasks ({COLUMNS})
SELECT horsies_uuid7(), 'noop', 'default', '{{"number":1,"who":"hello world"}}', 50, '{{}}', NULL,
    NULL, NULL, NULL, now(), now() + %(due)s::interval + number * interval '1 ms',
    %(due)s::interval <= '0'
FROM generate_series(1, %(rows)s) AS number
"""  # noqa: S608 - same
FILL_HISTORY = """
INSERT INTO horsies_task_history
    (id, task_name, queue_name, args, priority, terms, sent_at, enqueued_at, status, epoch, attempt,
     retries, crashes, worker_id, claimed_at, started_at, finished_at, result)
SELECT horsies_uuid7(), 'noop', 'default', '{"number":1,"who":"hello world"}', 50, '{}', now(),
    now(), 'COMPLETED', 1, 1, 0, 0, gen_random_uuid(), now(), now(), now(), '{"ok":12}'
FROM generate_series(1, %(rows)s)
"""


@dataclass(frozen=True, slots=True)
class Line:
    """Median seconds of ours and of theirs."""

    what: str
    wanted: float
    ours: float
    theirs: float

    def __str__(self) -> str:
        ratio = self.theirs / self.ours
        verdict = "reached" if ratio >= self.wanted else "MISSED"
        return (
            f"{self.what:<40}{self.ours * 1e3:>10.3f}{self.theirs * 1e3:>12.3f}"
            f"{ratio:>8.2f}{self.wanted:>8.1f}  {verdict}"
        )


def main(rows_beside: int = 1_000_000) -> None:
    with embedded_server() as server:
        print_settings(server.dsn)
        lines = [
            one_by_one(make_database(server, "singles")),
            in_batches(make_database(server, "batches")),
            *asyncio.run(
                claims(
                    full=fill(make_database(server, "crowded"), rows_beside),
                    empty=fill(make_database(server, "lonely"), 0),
                    beside=rows_beside,
                )
            ),
        ]
    print(f"{'what':<40}{'ours ms':>10}{'theirs ms':>12}{'ratio':>8}{'wanted':>8}")
    for line in lines:
        print(line)
    print(
        "Theirs, for sends: a plain psycopg connection in autocommit, statements prepared, values\n"
        "made beforehand, into the same horsies_tasks with all its indexes, checks and the NOTIFY\n"
        "trigger. Theirs, for claims: the same claim in a database that holds nothing else."
    )


def one_by_one(dsn: str) -> Line:
    """`task.send(...)` against INSERT."""
    with Horsies(dsn) as app, psycopg.connect(dsn, autocommit=True) as raw:
        noop = define_noop(app)

        def ours() -> float:
            begin = perf_counter()
            for number in range(SENDS_A_ROUND):
                noop.send(number, who="hello world")
            return (perf_counter() - begin) / SENDS_A_ROUND

        def theirs() -> float:
            rows = make_rows(SENDS_A_ROUND)
            begin = perf_counter()
            for row in rows:
                raw.execute(RAW_INSERT, row)
            return (perf_counter() - begin) / SENDS_A_ROUND

        medians = interleaved(ours, theirs, ROUNDS_OF_SENDS)
        expect_same_rows(raw, SENDS_A_ROUND)
    return Line("send one by one / INSERT", 0.9, *medians)


def in_batches(dsn: str) -> Line:
    """`task.send_many(...)` against COPY."""
    with Horsies(dsn) as app, psycopg.connect(dsn, autocommit=True) as raw:
        noop = define_noop(app)
        calls = [noop.call(number, who="hello world") for number in range(BATCH)]

        def ours() -> float:
            begin = perf_counter()
            noop.send_many(calls)
            return perf_counter() - begin

        def theirs() -> float:
            ((now,),) = raw.execute("SELECT statement_timestamp()").fetchall()
            constant = (50, "{}", None, None, None, None, now, now, True)
            rows = [(key, "noop", "default", args, *constant) for key, args in make_rows(BATCH)]
            begin = perf_counter()
            with raw.cursor() as cursor, cursor.copy(RAW_COPY) as copy:
                for row in rows:
                    copy.write_row(row)
            return perf_counter() - begin

        medians = interleaved(ours, theirs, ROUNDS_OF_BATCHES)
        expect_same_rows(raw, BATCH)
    return Line(f"send_many of {BATCH:_} / COPY", 0.4, *medians)


async def claims(full: str, empty: str, beside: int) -> list[Line]:
    """The same claim with much beside it, and with nothing."""
    crowded, lonely = PostgresEngine(link_to(full)), PostgresEngine(link_to(empty))
    try:
        return [
            Line(
                f"claim of {size}, {beside:_} ended and later / none",
                0.9,
                *await interleaved_async(
                    lambda size=size: claim(crowded, size),
                    lambda size=size: claim(lonely, size),
                    ROUNDS_OF_CLAIMS,
                ),
            )
            for size in CLAIM_SIZES
        ]
    finally:
        await crowded.aclose()
        await lonely.aclose()


async def claim(engine: PostgresEngine, size: int) -> float:
    """Seconds of one claim; what it took is put back afterwards."""
    order = ClaimOrder(WorkerId(uuid4()), size, ((Share("default", size),),), start=False)
    begin = perf_counter()
    async with engine.unit_of_work() as tx:
        taken = await tx.tasks.claim(order)
    seconds = perf_counter() - begin
    assert len(taken) == size
    async with engine.unit_of_work() as tx:
        await tx.tasks.release([Claim(task.id, task.epoch) for task in taken])
    return seconds


def interleaved(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int
) -> tuple[float, float]:
    ours(), theirs()  # connections, plans, caches
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


async def interleaved_async(
    ours: Callable[[], Awaitable[float]], theirs: Callable[[], Awaitable[float]], rounds: int
) -> tuple[float, float]:
    for _ in range(10):
        await ours(), await theirs()
    pairs = [(await ours(), await theirs()) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def define_noop(app: Horsies) -> SyncTask[[int, str], int]:
    @app.task("noop")
    def noop(number: int, who: str) -> TaskResult[int, TaskError]:
        return TaskResult(ok=number + len(who))

    return noop


def make_rows(count: int) -> list[tuple[object, str]]:
    return [(uuid7(), f'{{"number":{number},"who":"hello world"}}') for number in range(count)]


def expect_same_rows(raw: psycopg.Connection, distinct: int) -> None:
    """Nobody wins by writing something else: ids and instants apart, each row is there twice."""
    found = raw.execute(
        """
        SELECT FROM horsies_tasks AS task
        GROUP BY to_jsonb(task) - '{id,sent_at,enqueued_at}'::text[], sent_at = enqueued_at
        """
    )
    assert found.rowcount == distinct


@contextmanager
def embedded_server() -> Generator[EmbeddedServer]:
    with tempfile.TemporaryDirectory(prefix="horsies-bench-") as folder:
        Path(folder).chmod(0o711)  # the server may run under another account
        with EmbeddedServer(Path(folder), settings=DURABLE) as server:
            yield server


def print_settings(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        for name in ("server_version", "shared_buffers", *DURABLE):
            ((value,),) = connection.execute(f"SHOW {name}".encode()).fetchall()
            assert value == DURABLE.get(name, value)
            print(f"{name} {value}", end="; ")
        print()


def make_database(server: EmbeddedServer, name: str) -> str:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    dsn = server.dsn_of(name)
    asyncio.run(PostgresSchema(link_to(dsn)).migrate())
    return dsn


def fill(dsn: str, beside: int) -> str:
    """Tasks that are ready, and beside them as many ended as due tomorrow."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(FILL_LIVE, {"due": "0", "rows": READY})
        connection.execute(FILL_LIVE, {"due": "1 day", "rows": beside})
        connection.execute(FILL_HISTORY, {"rows": beside})
        connection.execute("VACUUM ANALYZE")
    return dsn


def link_to(dsn: str) -> Link:
    return Link(dsn=dsn, listen_dsn=dsn)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
