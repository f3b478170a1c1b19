"""Running the user's code: what an executor calls, wherever it runs tasks."""

from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from horsies.application.ports.grant import Grant
from horsies.domain.ids import TaskId
from horsies.domain.outcome import Outcome
from horsies.domain.task import Claim


@dataclass(slots=True)
class Job:
    """One run of one task, as it is handed to whoever runs it."""

    key: bytes
    epoch: int
    name: str
    queue: str
    attempt: int
    payload: bytes = field(repr=False)

    @classmethod
    def of(cls, grant: Grant) -> "Job":
        return cls(grant.key, grant.epoch, grant.name, grant.queue, grant.attempt, grant.payload)

    @property
    def claim(self) -> Claim:
        return Claim(TaskId(UUID(bytes=self.key)), self.epoch)


@dataclass(slots=True)
class Performed:
    """The outcome for the judge, and the result that nobody else needs to read."""

    outcome: Outcome
    result: bytes | None = field(default=None, repr=False)
    detail: str | None = None


class Supervision(Protocol):
    """What a run tells its supervisor, and may ask of it."""

    def begin(self) -> None:
        """The next line is the user's."""
        ...

    def progress(self, fraction: float, note: str | None) -> None: ...

    def is_cancelled(self) -> bool:
        """Whether somebody has asked the task to end."""
        ...


class Performer(Protocol):
    """Whatever the user's code does, something is performed; only TaskInterrupted comes out.

    `open` and `close` are for who runs tasks: on the loop on which async ones run.
    """

    async def open(self) -> None:
        """Before the first run. What the user's code raises comes out."""
        ...

    async def close(self) -> None:
        """After the last one."""
        ...

    def is_async(self, name: str) -> bool: ...

    def needs_fresh(self, name: str) -> bool:
        """Whether each run of it gets a process of its own."""
        ...

    def run(self, job: Job, supervision: Supervision) -> Performed: ...

    async def run_async(self, job: Job, supervision: Supervision) -> Performed: ...
