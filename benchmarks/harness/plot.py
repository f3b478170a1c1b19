"""The drain of each queue as a bar chart, in SVG: readable on a light and a dark page."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from benchmarks.harness.report import Line

WIDTH, ROW, LABEL, VALUE = 720, 30, 170, 90
OURS, THEIRS, INK = "#2f855a", "#a0aec0", "#718096"


def plot(path: Path, title: str, lines: Sequence[Line]) -> None:
    """Ours once, then each that it is measured against."""
    bars = [("Horsies", lines[0].ours, OURS)]
    bars += [(line.against, line.theirs, THEIRS) for line in lines if line.theirs is not None]
    bars.sort(key=lambda bar: -bar[1])
    path.write_text(_svg(title, bars))


def _svg(title: str, bars: Sequence[tuple[str, float, str]]) -> str:
    height = ROW * (len(bars) + 2)
    longest = max(value for _, value, _ in bars)
    rows = "\n".join(
        _bar(name, value, value / longest, colour, ROW * (place + 1))
        for place, (name, value, colour) in enumerate(bars)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' font-family="sans-serif" font-size="13" fill="{INK}">\n'
        f'<title>{escape(title)}</title>\n<text x="0" y="16" font-weight="bold">'
        f"{escape(title)}</text>\n{rows}\n</svg>\n"
    )


def _bar(name: str, value: float, part: float, colour: str, top: int) -> str:
    width = max(1, round((WIDTH - LABEL - VALUE) * part))
    line = top + ROW // 2
    return (
        f'<text x="{LABEL - 8}" y="{line + 4}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{LABEL}" y="{top + 4}" width="{width}" height="{ROW - 8}" fill="{colour}"/>'
        f'<text x="{LABEL + width + 6}" y="{line + 4}">{value:,.0f}</text>'
    )
