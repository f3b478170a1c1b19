"""Where the next claim of each queue goes on, instead of reading again what is gone already.

Entries of claimed tasks stay in the index until no transaction can see them any more, and one
that is open for long keeps millions of them. From the mark on there are few. What came to stand
before it (a retry, a higher priority) is found by looking from the start now and then.
"""

from collections.abc import Sequence
from struct import pack
from time import monotonic
from typing import TypeAlias

from horsies.adapters.postgres.claiming import ELIGIBLE_AT, PRIORITY, QUEUE, TASK_ID
from horsies.adapters.postgres.rows import Row

Mark: TypeAlias = tuple[int, bytes, bytes]

FROM_THE_START: Mark = (-32_768, pack(">q", -(2**63)), bytes(16))
LOOK_BEHIND_SECONDS = 0.05
LONGEST_SECONDS = 2.0
SHARE_OF_LOOKS = 10
"""A look from the start that took long is not repeated before ten times as much has passed."""


class Marks:
    def __init__(self) -> None:
        self._marks: dict[bytes, Mark] = {}
        self._next_look = 0.0
        self._began: float | None = None

    def take(self, queues: Sequence[str]) -> list[Mark]:
        """Where a claim that begins now starts, by queue."""
        now = monotonic()
        if now >= self._next_look:
            self._marks.clear()
        self._began = now if not self._marks else None
        return [self._marks.get(queue.encode(), FROM_THE_START) for queue in queues]

    def note(self, rows: Sequence[Row], *, dry: bool) -> bool:
        """After a claim, with its rows in order: whether the queues are dry, or only from here."""
        now = monotonic()
        from_the_start = self._began is not None
        if self._began is not None:
            pause = SHARE_OF_LOOKS * (now - self._began)
            self._next_look = now + min(LONGEST_SECONDS, max(LOOK_BEHIND_SECONDS, pause))
        if dry:
            self._marks.clear()
            return from_the_start
        for row in rows:
            self._marks[row[QUEUE]] = (row[PRIORITY], row[ELIGIBLE_AT], row[TASK_ID])
        return False
