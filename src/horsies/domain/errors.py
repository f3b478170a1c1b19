"""The exceptions that Horsies raises.

HorsiesError
├── FaultsError (also ValueError)   everything wrong in one place, each with its HRS code
│   ├── ConfigurationError          settings
│   └── DefinitionError             tasks and their registry
├── TaskSendError                   a send was refused; says whether a retry can help
├── BrokerError                     the store could not answer
├── ResultAccessError               the other side of a TaskResult was asked for
├── CompletionError                 a task could not be completed by its own run; says why
├── NotInTaskError (also RuntimeError)   only a running task can be asked that
└── IllegalTransitionError          a defect of ours: a state was asked to do what it cannot
TaskInterrupted (BaseException)     raised inside a task by a timeout or a cancel

Their `__module__` is where users import them from, so that tracebacks read so.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from horsies.domain.faults import Fault, in_source_order, render_report

if TYPE_CHECKING:
    from horsies.domain.ids import TaskId
    from horsies.domain.result import TaskError
    from horsies.domain.sending import SendErrorCode
    from horsies.domain.task import NewTask


class HorsiesError(Exception):
    """The root of everything Horsies raises."""

    __module__ = "horsies"


class FaultsError(HorsiesError, ValueError):
    """One or more faults, collected and reported together."""

    __module__ = "horsies"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = in_source_order(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        first = self.faults[0]
        return f"{first.code}: {first.message}\n\n{self.report()}"

    def report(self) -> str:
        """All faults, each in full."""
        return render_report(self.faults)


class ConfigurationError(FaultsError):
    """Settings that cannot work."""

    __module__ = "horsies"


class DefinitionError(FaultsError):
    """Task definitions that cannot work."""

    __module__ = "horsies"


class TaskSendError(HorsiesError):
    """A send that did not happen (or whose acknowledgement was lost, if `retryable`).

    `tasks` is what was to be sent, ids included: `retry_send` replays exactly that. `fault` says
    why the store could not take it, `transactional` that it was part of the caller's transaction.
    """

    __module__ = "horsies"

    def __init__(
        self,
        code: "SendErrorCode",
        message: str,
        tasks: "tuple[NewTask, ...]" = (),
        *,
        fault: "BrokerFault | None" = None,
        transactional: bool = False,
    ) -> None:
        super().__init__(code, message, tasks)
        self.code = code
        self.message = message
        self.tasks = tasks
        self.fault = fault
        self.transactional = transactional

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def retryable(self) -> bool:
        return self.code.retryable and (self.fault is None or self.fault.retryable)

    @property
    def task_id(self) -> "TaskId | None":
        return self.tasks[0].id if self.tasks else None

    @property
    def payload(self) -> bytes | None:
        return self.tasks[0].payload if self.tasks else None


class BrokerFault(StrEnum):
    """Why the store could not answer."""

    CONNECTION = "connection"  # lost, or never made
    CONFLICT = "conflict"  # two transactions met, and this one was undone
    READ_ONLY = "read only"  # a standby, or a failover under way
    BUSY = "busy"  # a lock, a connection or an answer took too long
    FULL = "full"  # disk, memory or connections of the server
    SCHEMA = "schema"  # tables are missing, or of another version
    DENIED = "denied"  # credentials or grants
    CLOSED = "closed"  # the app was closed
    REFUSED = "refused"  # the request itself cannot be granted
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later with nobody changing anything."""
        return self in {
            BrokerFault.CONNECTION,
            BrokerFault.CONFLICT,
            BrokerFault.READ_ONLY,
            BrokerFault.BUSY,
            BrokerFault.FULL,
        }


class BrokerError(HorsiesError):
    """The store could not answer, or refused a request that cannot be granted."""

    __module__ = "horsies"

    def __init__(self, message: str, *, fault: BrokerFault = BrokerFault.REFUSED) -> None:
        super().__init__(message)
        self.fault = fault

    @property
    def retryable(self) -> bool:
        return self.fault.retryable


class ResultAccessError(HorsiesError):
    """`ok_value` of an error, or `err_value` of a success; `error` is the task's, if it failed."""

    __module__ = "horsies"

    def __init__(self, message: str, error: "TaskError | None" = None) -> None:
        super().__init__(message)
        self.error = error


class CompletionRefusal(StrEnum):
    """Why `complete_in` did not complete a task."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    LOST = "lost", "this task has ended, or belongs to another run by now"
    REPEATED = "repeated", "this run has completed its task before, in a transaction that stands"
    WORKFLOW_NODE = "workflow node", "a node's end is one with the next steps of its workflow"
    UNFIT_RESULT = "unfit result", "this is no value that the task may give, or it cannot be stored"
    LEFT_OPEN = "left open", "the task returned and had not ended its transaction"


class CompletionError(HorsiesError):
    """A task could not be completed by its own run; what its transaction holds must not stay."""

    __module__ = "horsies"

    def __init__(self, refusal: CompletionRefusal, message: str | None = None) -> None:
        super().__init__(refusal, message)
        self.refusal = refusal
        self.message = message or refusal.meaning

    def __str__(self) -> str:
        return self.message


class NotInTaskError(HorsiesError, RuntimeError):
    """The running task was asked for where none is running."""

    __module__ = "horsies"


class TaskInterrupted(BaseException):
    """A timeout or a cancel reached the running task; `except Exception` must not swallow it."""

    __module__ = "horsies"
