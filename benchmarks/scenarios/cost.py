"""What Horsies costs: a worker that waits, and a task at full load."""

from collections.abc import Sequence

from benchmarks.harness.contest import Bench, median
from benchmarks.harness.entrants import HORSIES, Entrant, each_once
from benchmarks.harness.observing import Idleness, Ledger, watch_idle
from benchmarks.harness.report import Line

SETTLE_SECONDS, IDLE_SECONDS = 5.0, 20.0


def idle(bench: Bench) -> Sequence[Line]:
    """CPU, transactions and private memory of workers that have nothing to do."""
    rivals = each_once(bench.entrants)

    def measure(entrant: Entrant) -> Idleness:
        programs = bench.programs(entrant)
        with programs.working() as workers:
            return watch_idle(
                bench.stage,
                programs,
                [worker.pid for worker in workers],
                settle=SETTLE_SECONDS,
                seconds=min(IDLE_SECONDS, 5 * bench.seconds),
            )

    found = bench.interleave([HORSIES, *rivals], measure)
    bounds = {
        "cpu": ("idle: CPU", "cores", 0.01),
        "transactions": ("idle: transactions", "a second", 2.0),
        "worker_mb": ("private memory of a worker", "MB", None),
        "child_mb": ("private memory of a child", "MB", 60.0),
    }
    lines: list[Line] = []
    for key, (what, unit, bound) in bounds.items():
        figures = {
            entrant: median(getattr(idleness, key) for idleness in rounds)
            for entrant, rounds in found.items()
        }
        ours = figures.pop(HORSIES)
        lines.append(Line(what=what, unit=unit, ours=ours, at_most=bound))
        lines += [
            Line(what=what, unit=unit, ours=ours, against=entrant.name, theirs=theirs)
            for entrant, theirs in figures.items()
            if theirs
        ]
    return lines


def load_cost(bench: Bench) -> Sequence[Line]:
    """WAL and transactions of a task while a backlog is drained."""
    count = bench.calibrate(HORSIES)

    def measure(entrant: Entrant) -> tuple[float, float]:
        programs = bench.programs(entrant)
        programs.run("fill", entrant.task, count)
        bench.settle(programs)
        before = Ledger.read(bench.stage, programs)
        span = bench.drain_settled(programs)
        after = Ledger.read(bench.stage, programs)
        return (
            (after.wal_bytes - before.wal_bytes) / span.ended,
            (after.transactions - before.transactions) / span.ended,
        )

    rounds = bench.interleave([HORSIES], measure)[HORSIES]
    wal, transactions = (median(each) for each in zip(*rounds, strict=True))
    return [
        Line(what="full load: WAL", unit="B a task", ours=wal, at_most=1_200),
        Line(what="full load: transactions", unit="a task", ours=transactions, at_most=0.02),
    ]
