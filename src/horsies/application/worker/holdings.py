"""What a worker holds at this moment."""

from collections.abc import Collection, Iterable, Iterator

from horsies.application.ports.grant import Grant
from horsies.domain.ids import TaskId
from horsies.domain.task import Claim


class Holdings:
    """`claimed` waits for a place, `running` has one, and each is in one of the two.

    Grants are known by their identity, which is many times cheaper than comparing claims.
    """

    def __init__(self) -> None:
        self._claimed: dict[int, Grant] = {}
        self._running: dict[int, Grant] = {}

    def __len__(self) -> int:
        return len(self._claimed) + len(self._running)

    def __iter__(self) -> Iterator[Grant]:
        return iter((*self._running.values(), *self._claimed.values()))

    @property
    def claimed(self) -> Collection[Grant]:
        return self._claimed.values()

    @property
    def running(self) -> Collection[Grant]:
        return self._running.values()

    @property
    def ids(self) -> tuple[TaskId, ...]:
        return tuple(grant.claim.id for grant in self)

    def wait(self, grants: Iterable[Grant]) -> None:
        self._claimed.update((id(grant), grant) for grant in grants)

    def run(self, grants: Iterable[Grant]) -> None:
        self._running.update((id(grant), grant) for grant in grants)

    def forget(self, grants: Iterable[Grant]) -> None:
        for grant in grants:
            if self._running.pop(id(grant), None) is None:
                self._claimed.pop(id(grant), None)

    def of(self, claims: Collection[Claim]) -> list[Grant]:
        """What is held under these claims."""
        return [grant for grant in self if grant.claim in claims] if claims else []

    def running_of(self, ids: Iterable[TaskId]) -> list[Claim]:
        """The claims on these tasks, as far as they run here."""
        wanted = frozenset(ids)
        return [claim for grant in self.running if (claim := grant.claim).id in wanted]
