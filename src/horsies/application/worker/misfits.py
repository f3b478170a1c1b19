"""What this worker could not make sense of, and leaves to workers that may be newer."""

from horsies.application.ports.grant import Grant
from horsies.application.usecases.claim_tasks import NOTHING_UNFIT, Unfit
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.ids import TaskId

MOST_TASKS = 1_000
"""The latest of them are remembered: each costs a comparison a row of every claim."""


class Misfits:
    """A name that is unknown here is left out altogether. Of a name that is known, only the calls
    that could not be read: one bad call must not keep the good ones waiting.
    """

    def __init__(self) -> None:
        self._tasks: dict[TaskId, None] = {}
        self.unfit = NOTHING_UNFIT

    def note(self, grant: Grant, code: str) -> None:
        names = self.unfit.names
        if code == OperationalErrorCode.WORKER_RESOLUTION_ERROR:
            names |= {grant.name}
        else:
            self._tasks[grant.claim.id] = None
            if len(self._tasks) > MOST_TASKS:
                del self._tasks[next(iter(self._tasks))]
        self.unfit = Unfit(names, frozenset(self._tasks))
