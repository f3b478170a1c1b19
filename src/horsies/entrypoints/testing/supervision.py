"""What a run in a sandbox may tell and ask."""

from dataclasses import dataclass

from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.domain.progress import Progress
from horsies.domain.task import Claim
from horsies.entrypoints.bridge import drive


@dataclass(frozen=True, slots=True)
class SandboxSupervision:
    """Progress is there at once. Nobody asks a run to end, since no time passes meanwhile."""

    unit_of_work: UnitOfWork
    claim: Claim

    def begin(self) -> None: ...

    def progress(self, fraction: float, note: str | None) -> None:
        drive(self._note(Progress(fraction, note)))

    def is_cancelled(self) -> bool:
        return False

    async def _note(self, progress: Progress) -> None:
        async with self.unit_of_work() as tx:
            await tx.tasks.note_progress({self.claim: progress})
