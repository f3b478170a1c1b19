"""Stand-ins for what a worker's loops speak to."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from horsies.application.ports.executor import Capacity, Interruption, RunReport
from horsies.application.ports.grant import Grant
from horsies.domain.progress import Progress
from horsies.domain.task import Claim


@dataclass
class Hands:
    """An executor that runs nothing and remembers what it was told."""

    signs: dict[Claim, int] = field(default_factory=dict)
    interrupted: list[tuple[Claim, Interruption]] = field(default_factory=list)
    told: dict[Claim, Progress] = field(default_factory=dict)
    is_open: bool = False

    async def open(
        self,
        on_change: Callable[[], None],  # noqa: ARG002 - the port's
        on_progress: Callable[[], None],
    ) -> None:
        self.is_open = True
        self.on_progress = on_progress

    @property
    def capacity(self) -> Capacity:
        return Capacity(free=1)

    def submit(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        return grants

    def interrupt(self, claims: Collection[Claim], why: Interruption) -> None:
        self.interrupted += [(claim, why) for claim in claims]

    def take_reports(self) -> Sequence[RunReport]:
        return ()

    def take_progress(self) -> Mapping[Claim, Progress]:
        told, self.told = self.told, {}
        return told

    def signs_of_life(self) -> Mapping[Claim, int]:
        return self.signs

    async def close(self) -> None:
        self.is_open = False
