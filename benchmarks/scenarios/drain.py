"""A backlog that is waiting when the worker starts: sync, async, without processes, slow tasks.

The time is from the first start to the last end in the queue's own records.
"""

from collections.abc import Sequence

from benchmarks.harness.contest import Bench, best_of
from benchmarks.harness.entrants import CELERY, HORSIES, PGQUEUERS, Entrant
from benchmarks.harness.report import Line

WANTED = {"pgqueuer": 2.0, "celery": 15.0, "procrastinate": 20.0, "prototype": 0.7}
UNIT = "tasks/s"
SLOW_PROCESSES, SLOW_SECONDS = 8, 0.01


def drain_sync(bench: Bench) -> Sequence[Line]:
    """No-op tasks in two processes."""
    return _compared("drain, sync, 2 processes", bench, HORSIES, bench.entrants, WANTED)


def drain_async(bench: Bench) -> Sequence[Line]:
    """`async def` tasks; Celery has none, the prototype neither."""
    others = [peer for peer in bench.entrants if peer.queue not in ("celery", "prototype")]
    wanted = {"pgqueuer": 2.0}
    rivals = [peer.running("noop_async") for peer in others]
    return _compared(
        "drain, async, 2 processes", bench, HORSIES.running("noop_async"), rivals, wanted
    )


def drain_inline(bench: Bench) -> Sequence[Line]:
    """`--processes 0`: in the worker itself, as PgQueuer does."""
    inline = HORSIES.named("Horsies, no processes", processes=0)
    rivals = [peer for peer in bench.entrants if peer.queue == "pgqueuer"]
    return _compared("drain, sync, --processes 0", bench, inline, rivals, {"pgqueuer": 2.0})


def slow_tasks(bench: Bench) -> Sequence[Line]:
    """Tasks of 10 ms in eight processes, against what eight processes can do at all."""
    mine = HORSIES.running("ten_ms").named("Horsies", processes=SLOW_PROCESSES)
    rivals = [
        peer.running("ten_ms").named(peer.name, processes=SLOW_PROCESSES)
        for peer in bench.entrants
        if peer.queue == CELERY.queue
    ]
    what = "tasks of 10 ms, 8 processes"
    rates = bench.drains([mine, *rivals])
    ideal = SLOW_PROCESSES / SLOW_SECONDS
    ours = Line(
        what=what, unit=UNIT, ours=rates[mine], against="ideal", theirs=ideal, at_least=0.95
    )
    return [ours, *_lines(what, rates, mine, {})]


def two_workers(bench: Bench) -> Sequence[Line]:
    """Two workers on one queue, each with two processes, against one."""
    pair = HORSIES.named("Horsies, two workers", workers=2)
    rates = bench.drains([pair, HORSIES])
    return _lines("drain, two workers on one queue", rates, pair, {"horsies": 1.0})


def slow_disk(bench: Bench) -> Sequence[Line]:
    """Each commit takes 5 ms more."""
    slow = {"commit_delay": "5000", "commit_siblings": "0"}
    rivals = [peer.on(**slow) for peer in bench.entrants if peer in PGQUEUERS]
    return _compared(
        "drain, commits delayed by 5 ms", bench, HORSIES.on(**slow), rivals, {"pgqueuer": 3.0}
    )


def _compared(
    what: str, bench: Bench, mine: Entrant, rivals: Sequence[Entrant], wanted: dict[str, float]
) -> Sequence[Line]:
    return _lines(what, bench.drains([mine, *rivals]), mine, wanted)


def _lines(
    what: str, rates: dict[Entrant, float], mine: Entrant, wanted: dict[str, float]
) -> Sequence[Line]:
    """A queue that is there several times is judged by its best."""
    others = [entrant for entrant in rates if entrant != mine]
    if not others:
        return [Line(what=what, unit=UNIT, ours=rates[mine])]
    lines: list[Line] = []
    for entrant in others:
        best = best_of({other: rates[other] for other in others}, entrant.queue)
        judged = best is not None and best[0] == entrant
        bound = wanted.get(entrant.queue) if judged else None
        lines.append(
            Line(
                what=what,
                unit=UNIT,
                ours=rates[mine],
                against=entrant.name,
                theirs=rates[entrant],
                at_least=bound,
            )
        )
    return lines
