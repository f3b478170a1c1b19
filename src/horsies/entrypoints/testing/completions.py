"""Waiting in a sandbox means running what is due: nobody else would."""

from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager

from horsies.domain.ids import TaskId
from horsies.entrypoints.testing.board import RunBoard

MOST_RUNS = 10_000
"""Runs beyond what is asked for before they are taken for a task that sends itself for ever."""


class SandboxWatch:
    def __init__(
        self, make_progress: Callable[[], Awaitable[int]], board: RunBoard, most: int
    ) -> None:
        self._make_progress = make_progress
        self._board = board
        self._most = most
        self._left = most

    async def wait(self, timeout_seconds: float | None) -> bool:
        """Run due work; if there is none, wait for what others are running."""
        seen = self._board.rings
        progress = await self._make_progress()
        self._left -= progress
        if self._left < 0:
            raise endless(self._most)
        if progress:
            return True
        if not self._board.others_at_work():
            return self._board.rings != seen
        return await self._board.wait(seen, timeout_seconds)


class SandboxCompletions:
    def __init__(self, make_progress: Callable[[], Awaitable[int]], board: RunBoard) -> None:
        self._make_progress = make_progress
        self._board = board

    @contextmanager
    def watch(self, ids: Collection[TaskId]) -> Generator[SandboxWatch]:
        """Whatever runs may be what they wait for."""
        yield SandboxWatch(self._make_progress, self._board, len(ids) + MOST_RUNS)


def endless(runs: int) -> RuntimeError:
    return RuntimeError(
        f"{runs} tasks have run and there is still work: does a task send itself? "
        "Give drain(max_runs=...) a higher limit if this is meant"
    )
