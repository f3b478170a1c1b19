"""What a worker holds at this moment."""

from collections.abc import Iterable, Iterator

from horsies.domain.ids import TaskId
from horsies.domain.task import Claim, Task


class Holdings:
    """`claimed` waits for a place, `running` has one, and each is in one of the two."""

    def __init__(self) -> None:
        self.claimed: dict[Claim, Task] = {}
        self.running: dict[Claim, Task] = {}

    def __len__(self) -> int:
        return len(self.claimed) + len(self.running)

    def __iter__(self) -> Iterator[Claim]:
        yield from self.running
        yield from self.claimed

    def __contains__(self, claim: Claim) -> bool:
        return claim in self.running or claim in self.claimed

    def wait(self, tasks: Iterable[Task]) -> None:
        self.claimed.update((task.claim, task) for task in tasks)

    def run(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            self.claimed.pop(task.claim, None)
            self.running[task.claim] = task

    def forget(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            self.claimed.pop(claim, None)
            self.running.pop(claim, None)

    @property
    def ids(self) -> tuple[TaskId, ...]:
        return tuple(claim.id for claim in self)

    def of(self, ids: Iterable[TaskId]) -> list[Claim]:
        """The claims on these tasks, as far as they run here."""
        wanted = frozenset(ids)
        return [claim for claim in self.running if claim.id in wanted]
