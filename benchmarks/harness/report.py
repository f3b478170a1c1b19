"""What was measured, as a table and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HEADER = (
    f"{'what':<44}{'ours':>12} {'unit':<10}{'against':<24}{'theirs':>12}{'ratio':>8}{'wanted':>9}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One comparison. The ratio is ours / theirs; without theirs it is our figure that counts."""

    what: str
    unit: str
    ours: float
    against: str = ""
    theirs: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None

    @property
    def reached(self) -> bool | None:
        judged = self.ours if self.theirs is None else self.ratio
        if judged is None or self.at_least is self.at_most is None:
            return None
        return (self.at_least is None or judged >= self.at_least) and (
            self.at_most is None or judged <= self.at_most
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "reached": self.reached}

    def __str__(self) -> str:
        wanted = _bound("≥", self.at_least) or _bound("≤", self.at_most)
        verdict = {None: "", True: "reached", False: "MISSED"}[self.reached]
        return (
            f"{self.what:<44}{_figure(self.ours):>12} {self.unit:<10}{self.against:<24}"
            f"{_figure(self.theirs):>12}{_figure(self.ratio):>8}{wanted:>9}  {verdict}"
        ).rstrip()


def table(lines: Sequence[Line]) -> str:
    return "\n".join([HEADER, *map(str, lines)])


def footnotes(server: Sequence[str], notes: Mapping[str, str], versions: Mapping[str, str]) -> str:
    told = [f"Server: {'; '.join(server)}."]
    for about, note in notes.items():
        version = versions.get(about)
        told.append(f"{about}{f' {version}' if version else ''}: {note}.")
    return "\n".join(told)


def write_json(
    path: Path,
    lines: Sequence[Line],
    *,
    server: Sequence[str],
    notes: Mapping[str, str],
    versions: Mapping[str, str],
) -> None:
    whole = {
        "server": server,
        "versions": versions,
        "notes": notes,
        "lines": [line.as_json() for line in lines],
    }
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def _bound(sign: str, bound: float | None) -> str:
    return "" if bound is None else f"{sign} {bound:g}"


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
