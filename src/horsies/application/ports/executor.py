"""Where tasks run: in child processes, or in the worker itself."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Protocol

from horsies.application.ports.grant import Grant
from horsies.domain.outcome import Outcome
from horsies.domain.progress import Progress
from horsies.domain.task import Claim, Task


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has cost; the memory is that of its whole process."""

    cpu_seconds: float
    peak_memory_bytes: int


@dataclass(slots=True)
class RunReport:
    """How a run ended; `result` is the encoded result where one was made, `detail` words if not."""

    grant: Grant
    outcome: Outcome
    result: bytes | None = field(default=None, repr=False)
    detail: str | None = None
    usage: Usage | None = None

    @property
    def task(self) -> Task:
        return self.grant.task


@dataclass(frozen=True, slots=True)
class Capacity:
    """Free places: for a task of any kind, and further ones for async tasks alone.

    `in_line` counts light tasks (by name), which children take before a place is free; those on
    free places are among them.
    """

    free: int = 0
    only_async: int = 0
    in_line: int = 0
    light: frozenset[str] = frozenset()


class Interruption(Enum):
    """Why a run is to end before it ends by itself."""

    CANCEL = auto()  # asked first, killed after the grace
    SHUTDOWN = auto()  # killed
    LOST = auto()  # the task belongs to somebody else: killed, and nothing is reported
    SILENT = auto()  # its process shows no sign of life: killed, and what it has begun has crashed


class Executor(Protocol):
    """Nothing but `open` and `close` waits.

    After `on_change` there are reports, or room; after `on_progress` somebody has told how far it
    has come.
    """

    async def open(
        self, on_change: Callable[[], None], on_progress: Callable[[], None]
    ) -> None: ...

    @property
    def capacity(self) -> Capacity: ...

    def submit(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        """Run these; gives back those for which there was no place."""
        ...

    def interrupt(self, claims: Collection[Claim], why: Interruption) -> None: ...

    def take_reports(self) -> Sequence[RunReport]:
        """Runs that have ended since the last time."""
        ...

    def signs_of_life(self) -> Mapping[Claim, int]:
        """For what runs in a process of its own: a number that changes while that one lives."""
        ...

    def take_progress(self) -> Mapping[Claim, Progress]:
        """The latest of each run that has told something since the last time."""
        ...

    async def close(self) -> None:
        """Whatever still runs is killed; nothing is left behind."""
        ...
