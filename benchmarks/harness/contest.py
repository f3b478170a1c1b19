"""Interleaved rounds: each entrant in turn, back and forth, so that a slow minute meets all."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.harness.entrants import Entrant
from benchmarks.harness.programs import ProgramError, Programs
from benchmarks.harness.stage import Stage
from benchmarks.peers.contract import Span

FIRST, LEAST, MOST = 500, 200, 1_000_000
PATIENCE_SECONDS = 90.0


@dataclass(slots=True)
class Bench:
    """The stage, and how much time there is."""

    stage: Stage
    entrants: Sequence[Entrant]
    """Whoever is to be compared with Horsies, if a scenario can."""
    rounds: int = 3
    seconds: float = 4.0
    """How long one drain is to take."""
    tasks: int | None = None
    """So many in each drain, instead."""
    beside: int = 1_000_000
    """Rows that are in the way, where growth is measured."""
    notes: dict[str, str] = field(default_factory=dict[str, str])
    """What is to be said below the tables."""

    def interleave(
        self, entrants: Sequence[Entrant], measure: Callable[[Entrant], Any]
    ) -> dict[Entrant, list[Any]]:
        """What was measured. A peer that fails is left out from then on; we may not."""
        found: dict[str, list[Any]] = {entrant.name: [] for entrant in entrants}
        for number in range(self.rounds):
            for entrant in entrants if number % 2 == 0 else reversed(entrants):
                if entrant.name not in found:
                    continue
                try:
                    found[entrant.name].append(measure(entrant))
                except ProgramError as error:
                    if entrant.queue == "horsies":
                        raise
                    self.notes[f"{entrant.name} is left out"] = str(error)
                    del found[entrant.name]
                    continue
                _tell(f"  {entrant.name} {found[entrant.name][-1]!s:.60}")
        return {entrant: found[entrant.name] for entrant in entrants if entrant.name in found}

    def programs(self, entrant: Entrant) -> Programs:
        programs = Programs.on(self.stage, entrant)
        self.notes[entrant.queue] = programs.run("describe")["settings"]
        return programs

    def drains(
        self,
        entrants: Sequence[Entrant],
        before: Callable[[Entrant, Programs], object] = lambda *_: None,
    ) -> dict[Entrant, float]:
        """Median tasks a second of each, out of a backlog that takes it some seconds."""
        sizes: dict[str, int] = {}
        return self.rates(entrants, partial(self._drain, sizes, before))

    def rates(
        self, entrants: Sequence[Entrant], measure: Callable[[Entrant], Span]
    ) -> dict[Entrant, float]:
        """Median tasks a second of each."""
        runs = self.interleave(entrants, measure)
        return {entrant: median(span.rate for span in spans) for entrant, spans in runs.items()}

    def drain(self, entrant: Entrant, count: int, *, limit_seconds: float | None = None) -> Span:
        """Once, out of a backlog of so many."""
        programs = self.programs(entrant)
        programs.run("fill", entrant.task, count)
        return self.drain_filled(programs, limit_seconds)

    def drain_filled(self, programs: Programs, limit_seconds: float | None = None) -> Span:
        self.settle(programs)
        return self.drain_settled(programs, limit_seconds)

    def settle(self, programs: Programs) -> None:
        """No worker pays for what filling has left to do."""
        with self.stage.onlooker(programs.database) as connection:
            connection.execute("VACUUM ANALYZE")

    def drain_settled(self, programs: Programs, limit_seconds: float | None = None) -> Span:
        span = programs.drain(limit_seconds or self.seconds * 4 + PATIENCE_SECONDS)
        if not span.ended:
            raise ProgramError("it did nothing in the time it had")
        return span

    def _drain(
        self,
        sizes: dict[str, int],
        before: Callable[[Entrant, Programs], object],
        entrant: Entrant,
    ) -> Span:
        count = sizes.get(entrant.name) or self.calibrate(entrant)
        programs = self.programs(entrant)
        before(entrant, programs)
        programs.run("fill", entrant.task, count)
        span = self.drain_filled(programs)
        sizes[entrant.name] = self._sized(span)
        return span

    def calibrate(self, entrant: Entrant) -> int:
        """Short runs tell how many tasks take as long as they should; they also warm up."""
        count = FIRST
        while self.tasks is None:
            span = self.drain(entrant, count)
            sized = self._sized(span)
            if sized <= 4 * count:
                return sized
            count = min(sized, 20 * count)
        return self.tasks

    def _sized(self, span: Span) -> int:
        wanted = int(span.rate * self.seconds)
        return self.tasks or max(LEAST, min(MOST, wanted))


def median(values: Any) -> float:
    return statistics.median(values)


def best_of(rates: Mapping[Entrant, float], queue: str) -> tuple[Entrant, float] | None:
    """The fastest entrant of one queue."""
    mine = [pair for pair in rates.items() if pair[0].queue == queue]
    return max(mine, key=lambda pair: pair[1], default=None)


def _tell(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}{line}", flush=True)
