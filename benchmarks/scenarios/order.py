"""A backlog over several queues and priorities, and whether it is run in the right order."""

from collections.abc import Sequence

from benchmarks.harness.contest import Bench
from benchmarks.harness.entrants import HORSIES, Entrant
from benchmarks.harness.report import Line
from benchmarks.peers.contract import Span

QUEUES = 4
OUT_OF_ORDER = """
SELECT count(*) FROM (
    SELECT place, max(place) OVER (
        ORDER BY claimed_at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP
    ) AS earlier
    FROM (
        SELECT claimed_at, substr(queue_name, 2)::int * 1000 + priority AS place
        FROM horsies_task_history
    ) AS placed
) AS claims WHERE place < earlier
"""
"""Tasks that were claimed later than one that comes after them; one claim takes many at once."""


def queues_and_priorities(bench: Bench) -> Sequence[Line]:
    """4 queues x 3 priorities against one queue; queues rank before priorities."""
    many = HORSIES.named("Horsies, 4 x 3", queues=QUEUES)
    astray: list[int] = []
    count = bench.calibrate(HORSIES)

    def measure(entrant: Entrant) -> Span:
        span = bench.drain(entrant, count)
        if entrant == many:
            with bench.stage.onlooker("bench_horsies") as connection:
                ((found,),) = connection.execute(OUT_OF_ORDER).fetchall()
            astray.append(found)
        return span

    rates = bench.rates([many, HORSIES], measure)
    return [
        Line(
            what="drain, 4 queues x 3 priorities",
            unit="tasks/s",
            ours=rates[many],
            against="one queue",
            theirs=rates[HORSIES],
            at_least=0.7,
        ),
        Line(what="  of them claimed out of order", unit="tasks", ours=max(astray), at_most=0),
    ]
