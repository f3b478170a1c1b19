"""Idle: from a send to the first line of its task, and to its result seen."""

from collections.abc import Sequence
from typing import Any

from benchmarks.harness.contest import Bench, median
from benchmarks.harness.entrants import HORSIES, RAW, Entrant, each_once
from benchmarks.harness.report import Line

COUNT = 100
REFERENCE_INSERT_MS, START_MS = 0.72, 1.5
"""The bound was set where a raw INSERT and commit took so long; it moves with this machine's."""


def latency(bench: Bench) -> Sequence[Line]:
    """One task at a time to a worker that has nothing to do; milliseconds, medians."""
    count = min(bench.tasks or COUNT, COUNT)
    rivals = each_once(bench.entrants)

    def measure(entrant: Entrant) -> dict[str, float]:
        programs = bench.programs(entrant)
        if entrant == RAW:
            return {"insert": _ms(programs.run("singles", count))}
        with programs.working():
            times = programs.run("latency", count, programs.setup.witness)
        return {what: _ms(seconds) for what, seconds in times.items() if seconds}

    found = bench.interleave([HORSIES, RAW, *rivals], measure)
    medians = {entrant: _medians(rounds) for entrant, rounds in found.items()}
    ours, insert = medians.pop(HORSIES), medians.pop(RAW)["insert"]
    bound = START_MS * insert / REFERENCE_INSERT_MS
    return [
        Line(what="raw INSERT and commit", unit="ms", ours=insert),
        *_lines("idle: send → first line", "first_line", ours, medians, bound),
        *_lines("idle: send → result seen", "result", ours, medians, 2 * bound),
    ]


def _lines(
    what: str,
    key: str,
    ours: dict[str, float],
    others: dict[Entrant, dict[str, float]],
    bound: float,
) -> Sequence[Line]:
    """The bound is on our figure; besides, no peer may start a task sooner."""
    strict = 1.0 if key == "first_line" else None
    lines = [Line(what=what, unit="ms", ours=ours[key], at_most=round(bound, 2))]
    lines += [
        Line(
            what=what,
            unit="ms",
            ours=ours[key],
            against=entrant.name,
            theirs=theirs[key],
            at_most=strict,
        )
        for entrant, theirs in others.items()
        if key in theirs
    ]
    return lines


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {key: median(each[key] for each in rounds) for key in (rounds[0] if rounds else ())}


def _ms(seconds: Any) -> float:
    return median(seconds) * 1e3
