"""What a queue must be able to do to be measured beside the others."""

import json
import os
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

VARIABLE = "HORSIES_BENCHMARK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Where a queue lives and how it is to work; it reaches its programs by the environment."""

    dsn: str
    witness: str
    processes: int = 2
    batch: int = 0
    queues: int = 0
    notify: bool = True
    redis: str = ""
    prototype: str = ""

    def as_environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self)), "HORSIES_DATABASE_URL": self.dsn}

    @classmethod
    def from_environment(cls) -> Self:
        return cls(**json.loads(os.environ[VARIABLE]))


@dataclass(frozen=True, slots=True)
class Span:
    """What the queue's own records say of a run."""

    ended: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.ended / self.seconds if self.seconds > 0 else 0.0


class Peer(Protocol):
    """One queue. Its module runs in an interpreter that has it installed, and has `make(setup)`."""

    settings: str
    """What was chosen for it, for the footnotes."""
    workers: int
    """How many worker processes its users would start."""

    async def prepare(self) -> None:
        """Make its tables in an empty database."""

    async def open(self) -> None:
        """Connect, as a sender does."""

    async def close(self) -> None: ...

    async def fill(self, task: str, count: int) -> None:
        """Send so many tasks by its fastest way of sending."""

    async def send(self, task: str, number: int) -> Any:
        """Send one, durably."""

    async def ended(self, sent: Any) -> None:
        """Wait for the end of one that was sent; NotImplementedError where there is no way."""

    def left(self) -> bool:
        """Whether tasks are waiting or running."""

    def span(self) -> Span:
        """From the first start to the last end."""

    def work(self) -> None:
        """Be a worker until SIGTERM."""
