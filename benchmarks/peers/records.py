"""What a queue's tables say: whether anything is left, and how long a run took."""

from typing import LiteralString

import psycopg
from benchmarks.peers.contract import Setup, Span


class Records:
    """`left` selects a row while there is work; `span` gives the count, first and last instant."""

    def __init__(self, setup: Setup, *, left: LiteralString, span: LiteralString) -> None:
        self._connection = psycopg.connect(setup.dsn, autocommit=True)
        self._left, self._span = left, span

    def left(self) -> bool:
        return self._connection.execute(self._left).fetchone() is not None

    def span(self) -> Span:
        ((ended, first, last),) = self._connection.execute(self._span).fetchall()
        return Span(ended, float(last or 0) - float(first or 0))


def seconds(column: LiteralString) -> LiteralString:
    return "extract(epoch FROM " + column + ")"
