"""How long tasks take, as far as it has been measured."""

from collections.abc import Iterable

from horsies.domain.run_ahead import is_short, measured


class Paces:
    def __init__(self, line_seconds: float) -> None:
        self._line_seconds = line_seconds
        self._by_name: dict[str, float] = {}
        self.light: frozenset[str] = frozenset()
        self.usual = line_seconds
        """Seconds of a light task, whichever."""

    def note(self, runs: Iterable[tuple[str, float]]) -> None:
        """Runs that were sent together count by their mean: one of them may have been disturbed."""
        if not self._line_seconds:
            return
        sums: dict[str, tuple[int, float]] = {}
        for name, seconds in runs:
            count, total = sums.get(name, (0, 0.0))
            sums[name] = (count + 1, total + seconds)
        for name, (count, total) in sums.items():
            self._note(name, total / count)

    def _note(self, name: str, mean: float) -> None:
        pace = self._by_name[name] = measured(self._by_name.get(name), mean)
        if is_short(pace, self._line_seconds):
            self.usual = measured(self.usual, mean)
            if name not in self.light:
                self.light |= {name}
        elif name in self.light:
            self.light -= {name}
