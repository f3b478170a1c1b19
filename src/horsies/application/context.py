"""The running task, as its own code sees it."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from horsies.application.definition import TaskDefinition
from horsies.application.hooks import Hooks
from horsies.application.ports.codec import UnfitValueError
from horsies.application.ports.completer import Completer, StillOpen
from horsies.application.ports.performer import Job, Supervision
from horsies.application.task_log import LOGGER, TaskLog
from horsies.domain.errors import CompletionError, CompletionRefusal, NotInTaskError
from horsies.domain.ids import TaskId
from horsies.domain.progress import Progress
from horsies.domain.result import TaskError, TaskResult

if TYPE_CHECKING:
    from horsies.application.lifespan import Lifespan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all runs of one process, or of one sandbox, have in common."""

    hooks: Hooks
    lifespan: "Lifespan"
    completer: Completer
    payload_limit: int


class CurrentTask:
    """What `current_task()` gives. Threads see it too if they inherit the task's context."""

    __slots__ = ("_definition", "_job", "_still_open", "_supervision", "_surroundings")

    def __init__(
        self,
        job: Job,
        definition: TaskDefinition,
        supervision: Supervision,
        surroundings: Surroundings,
    ) -> None:
        self._job = job
        self._definition = definition
        self._supervision = supervision
        self._surroundings = surroundings
        self._still_open: StillOpen | None = None

    @property
    def id(self) -> TaskId:
        return self._job.claim.id

    @property
    def name(self) -> str:
        return self._job.name

    @property
    def queue(self) -> str:
        return self._job.queue

    @property
    def attempt(self) -> int:
        """1 for the first run."""
        return self._job.attempt

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody, or the timeout, has asked the task to end; for threads and C code."""
        return self._supervision.is_cancelled()

    @property
    def state(self) -> Any:
        """What the app's lifespan has yielded; None without one."""
        return self._surroundings.lifespan.state

    @property
    def app(self) -> object:
        return self._surroundings.hooks.app

    @property
    def log(self) -> TaskLog:
        """A logger whose lines carry the id, the name and the attempt of this task."""
        from logging import getLogger  # noqa: PLC0415 - most tasks say nothing

        return TaskLog(getLogger(LOGGER), self.log_fields)

    @property
    def log_fields(self) -> dict[str, object]:
        return {"task_id": str(self.id), "task": self.name, "attempt": self.attempt}

    def progress(self, fraction: float, note: str | None = None) -> None:
        """Say how far this run has come, from 0 to 1; `handle.info()` shows it within a second.

        It may be called as often as one likes: no more than the latest is passed on.
        """
        told = Progress.told(fraction, note)
        self._supervision.progress(told.fraction, told.note)

    def complete_in(
        self, connection: object, result: TaskResult[T, TaskError]
    ) -> TaskResult[T, TaskError]:
        """Let this task be completed if and only if your transaction on `connection` commits.

        Gives the result back, so that it can be returned. Raises `CompletionError`, also if the
        task belongs to another run by now: let it undo your transaction.
        """
        encoded = self._encoded(result)
        completer = self._surroundings.completer
        self._still_open = completer.complete(self._job.claim, encoded, connection)
        return result

    async def complete_in_async(
        self, connection: object, result: TaskResult[T, TaskError]
    ) -> TaskResult[T, TaskError]:
        """The same for asynchronous connections."""
        encoded = self._encoded(result)
        completer = self._surroundings.completer
        self._still_open = await completer.complete_async(self._job.claim, encoded, connection)
        return result

    def end(self) -> CompletionError | None:
        """For who has run the task: what it has left undone."""
        still_open, self._still_open = self._still_open, None
        if still_open is None or not still_open():
            return None
        message = (
            f"task {self.name!r} called complete_in and returned with that transaction still open: "
            "commit it, or roll it back, before the task ends"
        )
        return CompletionError(CompletionRefusal.LEFT_OPEN, message)

    def _encoded(self, result: TaskResult[T, TaskError]) -> bytes:
        unfit = CompletionRefusal.UNFIT_RESULT
        if not isinstance(result, TaskResult) or result.is_err():  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise CompletionError(unfit, "complete_in takes TaskResult(ok=...): return an error")
        try:
            return self._definition.encode(result, self._surroundings.payload_limit)
        except UnfitValueError as error:
            raise CompletionError(unfit, f"task {self.name!r}: {error}") from error


running: ContextVar[CurrentTask] = ContextVar("horsies_running_task")
"""Set by whoever runs a task, for as long as it runs."""


def current_task() -> CurrentTask:
    """The task whose code asks.

    >>> current_task().id
    Traceback (most recent call last):
    ...
    horsies.NotInTaskError: no task is running here: current_task() is for code that a worker...
    """
    try:
        return running.get()
    except LookupError:
        raise NotInTaskError(
            "no task is running here: current_task() is for code that a worker or app.testing() "
            "runs as a task, and for threads that inherit its context "
            "(asyncio.to_thread does, others by contextvars.copy_context)"
        ) from None
