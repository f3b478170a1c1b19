"""Sending: in bulk, one by one, and from many threads at once."""

from collections.abc import Callable, Sequence

from benchmarks.harness.contest import Bench, median
from benchmarks.harness.entrants import HORSIES, RAW, Entrant, each_once
from benchmarks.harness.report import Line

BULK, SINGLES = 20_000, 500
SENDS_OF_SENDERS, SENDERS = 6_400, 64


def bulk_enqueue(bench: Bench) -> Sequence[Line]:
    """Many tasks at once: `send_many`, the peers' fastest way, and COPY."""
    count = bench.tasks or BULK

    def rate(entrant: Entrant) -> float:
        return count / bench.programs(entrant).run("bulk", count)

    wanted = {"pgqueuer": 1.0, "procrastinate": 3.0}
    return _sent(
        "enqueue in bulk", bench, [RAW.named("COPY"), *each_once(bench.entrants)], rate, wanted
    )


def single_enqueue(bench: Bench) -> Sequence[Line]:
    """One by one, each durable before the next: `send`, the peers' ways, and INSERT."""
    count = min(bench.tasks or SINGLES, SINGLES)

    def rate(entrant: Entrant) -> float:
        return 1 / median(bench.programs(entrant).run("singles", count))

    return _sent("enqueue one by one", bench, [RAW, *each_once(bench.entrants)], rate, {"raw": 0.9})


def many_senders(bench: Bench) -> Sequence[Line]:
    """64 threads that send one by one, with NOTIFY and without."""
    silent = HORSIES.named("Horsies, no NOTIFY", notify=False)
    count = bench.tasks or SENDS_OF_SENDERS

    def rate(entrant: Entrant) -> float:
        return bench.programs(entrant).run("senders", count, SENDERS)

    return _sent(f"{SENDERS} senders, one by one", bench, [silent], rate, {})


def _sent(
    what: str,
    bench: Bench,
    rivals: Sequence[Entrant],
    rate: Callable[[Entrant], float],
    wanted: dict[str, float],
) -> Sequence[Line]:
    found = bench.interleave([HORSIES, *rivals], rate)
    rates = {entrant: median(each) for entrant, each in found.items()}
    ours = rates.pop(HORSIES)
    return [
        Line(
            what=what,
            unit="sends/s",
            ours=ours,
            against=entrant.name,
            theirs=theirs,
            at_least=wanted.get(entrant.queue),
        )
        for entrant, theirs in rates.items()
    ]
