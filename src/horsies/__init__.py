"""Horsies: a task queue and workflow engine for Python on PostgreSQL.

Every public name is importable from here; the modules behind it are private. They are loaded when
a name of theirs is first used, so that a producer does not pay for what only a worker needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from horsies.application.context import CurrentTask, current_task
    from horsies.application.settings.app import AppConfig
    from horsies.application.settings.postgres import PostgresConfig
    from horsies.application.settings.queues import CustomQueueConfig, QueueMode
    from horsies.application.settings.recovery import RecoveryConfig
    from horsies.application.settings.resilience import WorkerResilienceConfig
    from horsies.application.settings.worker import WorkerConfig
    from horsies.application.usecases.inspect_tasks import AttemptInfo, TaskInfo
    from horsies.domain.cancellation import CancelAnswer
    from horsies.domain.codes import (
        BuiltInErrorCode,
        ContractErrorCode,
        OperationalErrorCode,
        OutcomeErrorCode,
        RetrievalErrorCode,
    )
    from horsies.domain.errors import (
        BrokerError,
        BrokerFault,
        CompletionError,
        CompletionRefusal,
        ConfigurationError,
        DefinitionError,
        FaultsError,
        HorsiesError,
        NotInTaskError,
        ResultAccessError,
        TaskInterrupted,
        TaskSendError,
    )
    from horsies.domain.faults import Fault
    from horsies.domain.ids import TaskId, WorkerId
    from horsies.domain.result import Err, ExceptionInfo, Ok, TaskError, TaskResult
    from horsies.domain.retry import RetryPolicy
    from horsies.domain.sending import SendErrorCode
    from horsies.domain.task_lifecycle import TaskStatus
    from horsies.entrypoints.app import Horsies
    from horsies.entrypoints.broker import PostgresBroker
    from horsies.entrypoints.current import current_app
    from horsies.entrypoints.handle import (
        TaskHandle,
        as_completed,
        as_completed_async,
        gather,
        gather_async,
    )
    from horsies.entrypoints.task import AsyncTask, Sender, SyncTask, Task, TaskCall

__version__ = "0.1.0"

__all__ = [
    "AppConfig",
    "AsyncTask",
    "AttemptInfo",
    "BrokerError",
    "BrokerFault",
    "BuiltInErrorCode",
    "CancelAnswer",
    "CompletionError",
    "CompletionRefusal",
    "ConfigurationError",
    "ContractErrorCode",
    "CurrentTask",
    "CustomQueueConfig",
    "DefinitionError",
    "Err",
    "ExceptionInfo",
    "Fault",
    "FaultsError",
    "Horsies",
    "HorsiesError",
    "NotInTaskError",
    "Ok",
    "OperationalErrorCode",
    "OutcomeErrorCode",
    "PostgresBroker",
    "PostgresConfig",
    "QueueMode",
    "RecoveryConfig",
    "ResultAccessError",
    "RetrievalErrorCode",
    "RetryPolicy",
    "SendErrorCode",
    "Sender",
    "SyncTask",
    "Task",
    "TaskCall",
    "TaskError",
    "TaskHandle",
    "TaskId",
    "TaskInfo",
    "TaskInterrupted",
    "TaskResult",
    "TaskSendError",
    "TaskStatus",
    "WorkerConfig",
    "WorkerId",
    "WorkerResilienceConfig",
    "as_completed",
    "as_completed_async",
    "current_app",
    "current_task",
    "gather",
    "gather_async",
]

_HOMES = {
    "application.context": "CurrentTask current_task",
    "application.settings.app": "AppConfig",
    "application.settings.postgres": "PostgresConfig",
    "application.settings.queues": "CustomQueueConfig QueueMode",
    "application.settings.recovery": "RecoveryConfig",
    "application.settings.resilience": "WorkerResilienceConfig",
    "application.settings.worker": "WorkerConfig",
    "application.usecases.inspect_tasks": "AttemptInfo TaskInfo",
    "domain.cancellation": "CancelAnswer",
    "domain.codes": (
        "BuiltInErrorCode ContractErrorCode OperationalErrorCode "
        "OutcomeErrorCode RetrievalErrorCode"
    ),
    "domain.errors": (
        "BrokerError BrokerFault CompletionError CompletionRefusal ConfigurationError "
        "DefinitionError FaultsError HorsiesError NotInTaskError ResultAccessError "
        "TaskInterrupted TaskSendError"
    ),
    "domain.faults": "Fault",
    "domain.ids": "TaskId WorkerId",
    "domain.result": "Err ExceptionInfo Ok TaskError TaskResult",
    "domain.retry": "RetryPolicy",
    "domain.sending": "SendErrorCode",
    "domain.task_lifecycle": "TaskStatus",
    "entrypoints.app": "Horsies",
    "entrypoints.broker": "PostgresBroker",
    "entrypoints.current": "current_app",
    "entrypoints.handle": "TaskHandle as_completed as_completed_async gather gather_async",
    "entrypoints.task": "AsyncTask Sender SyncTask Task TaskCall",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    try:
        module = import_module(f"{__name__}.{_HOME_OF[name]}")
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
