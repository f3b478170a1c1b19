"""Much beside the work: history, scheduled tasks, a long backlog, a snapshot that stays open."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from benchmarks.harness.contest import Bench
from benchmarks.harness.crowds import add_history, add_scheduled
from benchmarks.harness.entrants import HORSIES, Entrant
from benchmarks.harness.observing import pin_horizon
from benchmarks.harness.programs import Programs
from benchmarks.harness.report import Line
from benchmarks.harness.stage import Stage
from benchmarks.peers.contract import Span

SMALL = 10_000
PINNED_SECONDS, START_SECONDS = 60.0, 5.0


def history(bench: Bench) -> Sequence[Line]:
    """A million ended tasks against ten thousand."""
    rates = _beside(bench, {"Horsies, history": bench.beside, HORSIES.name: SMALL}, add_history)
    return [_line(f"drain, history of {bench.beside:_}", rates, f"of {SMALL:_}", 0.95)]


def scheduled(bench: Bench) -> Sequence[Line]:
    """A million tasks for tomorrow against none."""
    rates = _beside(bench, {"Horsies, scheduled": bench.beside, HORSIES.name: 0}, add_scheduled)
    return [_line(f"drain, {bench.beside:_} scheduled", rates, "none", 0.95)]


def backlog(bench: Bench) -> Sequence[Line]:
    """The first seconds of a backlog of 500,000 against one of 10,000."""
    long = HORSIES.named("Horsies, long backlog")
    counts = {long: bench.beside // 2, HORSIES: SMALL}

    def measure(entrant: Entrant) -> Span:
        return bench.drain(
            entrant, counts[entrant], limit_seconds=bench.seconds * 3 + START_SECONDS
        )

    rates = bench.rates([long, HORSIES], measure)
    return [_line(f"drain, backlog of {counts[long]:_}", rates, f"of {SMALL:_}", 0.9)]


def pinned_horizon(bench: Bench) -> Sequence[Line]:
    """A snapshot is held for 60 s while a backlog is drained; against the same without."""
    pinned = HORSIES.named("Horsies, pinned")
    seconds = min(PINNED_SECONDS, 15 * bench.seconds)
    count = int(bench.calibrate(HORSIES) / bench.seconds * seconds)

    def measure(entrant: Entrant) -> Span:
        programs = bench.programs(entrant)
        programs.run("fill", entrant.task, count)
        with closing(bench.stage.onlooker(programs.database)) as connection:
            if entrant == pinned:
                pin_horizon(connection)
            return bench.drain_filled(programs, seconds + START_SECONDS)

    rates = bench.rates([pinned, HORSIES], measure)
    return [_line(f"drain, xmin pinned for {seconds:.0f} s", rates, "not", 0.7)]


def _beside(
    bench: Bench, rows: Mapping[str, int], add: Callable[[Stage, Programs, int], object]
) -> Mapping[Entrant, float]:
    """Drains beside so many rows each, the crowded one first."""

    def before(entrant: Entrant, programs: Programs) -> None:
        if rows[entrant.name]:
            add(bench.stage, programs, rows[entrant.name])

    return bench.drains([HORSIES.named(name) for name in rows], before)


def _line(what: str, rates: Mapping[Entrant, float], against: str, wanted: float) -> Line:
    """The hindered one comes first."""
    hindered, free = rates.values()
    return Line(
        what=what, unit="tasks/s", ours=hindered, against=against, theirs=free, at_least=wanted
    )
