"""Tables for people, and the words in their cells."""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import click

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_WIDE = 500
_MEBIBYTE = 1 << 20
_COLOURS = {
    "busy": "green",
    "suspended": "yellow",
    "paused": "yellow",
    "stopped": "yellow",
    "lost": "red",
    "no answer": "red",
}


def show(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Coloured on a terminal; elsewhere plain, and as wide as it takes."""
    from rich.console import Console  # noqa: PLC0415 - only who shows a table loads it
    from rich.table import Table  # noqa: PLC0415 - same
    from rich.text import Text  # noqa: PLC0415 - same

    terminal = sys.stdout.isatty()
    console = Console(file=sys.stdout, width=None if terminal else _WIDE, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.upper())
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    console.print(table)


def show_json(value: Any) -> None:
    click.echo(json.dumps(value, default=_as_text, ensure_ascii=False, indent=2))


def span(duration: timedelta) -> str:
    """
    >>> span(timedelta(minutes=90)), span(timedelta(seconds=0.2))
    ('1 h', '0 s')
    """
    seconds = max(0, int(duration.total_seconds()))
    name, size = next((unit for unit in _UNITS if seconds >= unit[1]), _UNITS[-1])
    return f"{seconds // size} {name}"


def ago(instant: datetime | None, now: datetime) -> str:
    return "" if instant is None else f"{span(now - instant)} ago"


def memory(size: int) -> str:
    """
    >>> memory(300_000_000)
    '286 MiB'
    """
    return f"{size // _MEBIBYTE} MiB"


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
