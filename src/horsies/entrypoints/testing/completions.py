"""Waiting in a sandbox means running what is due: nobody else would."""

from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager

from horsies.application.ports.completions import Completions, CompletionWatch
from horsies.domain.ids import TaskId
from horsies.entrypoints.bridge import driven


class SandboxWatch:
    """Runs due work, then waits for what others on this loop are still running."""

    def __init__(
        self,
        run_due: Callable[[], Awaitable[int]],
        others_at_work: Callable[[], bool],
        others: CompletionWatch | None,
    ) -> None:
        self._run_due = run_due
        self._others_at_work = others_at_work
        self._others = others

    async def wait(self, timeout_seconds: float | None) -> bool:
        if await self._run_due() > 0:
            return True
        if self._others is None or not self._others_at_work():
            return False
        return await self._others.wait(timeout_seconds)


class SandboxCompletions:
    def __init__(
        self,
        completions: Completions,
        run_due: Callable[[], Awaitable[int]],
        others_at_work: Callable[[], bool],
    ) -> None:
        self._completions = completions
        self._run_due = run_due
        self._others_at_work = others_at_work

    @contextmanager
    def watch(self, ids: Collection[TaskId]) -> Generator[CompletionWatch]:
        if driven.get():  # nobody else can be at work while this thread is
            yield SandboxWatch(self._run_due, self._others_at_work, None)
            return
        with self._completions.watch(ids) as others:
            yield SandboxWatch(self._run_due, self._others_at_work, others)
