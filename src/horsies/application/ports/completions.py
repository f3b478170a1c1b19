"""Waking those who wait for tasks to end. A hint, never the truth: re-read after waking."""

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol

from horsies.domain.ids import TaskId


class CompletionWatch(Protocol):
    async def wait(self, timeout_seconds: float | None) -> bool:
        """True when something may have ended since the last look, False when the time is up."""
        ...


class Completions(Protocol):
    def watch(self, ids: Collection[TaskId]) -> AbstractContextManager[CompletionWatch]:
        """Begin to watch *before* the first look, or an ending in between goes unnoticed."""
        ...
