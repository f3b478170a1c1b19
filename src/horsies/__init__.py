"""Horsies: a task queue and workflow engine for Python on PostgreSQL.

Every public name is importable from here; the modules behind it are private.
"""

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
    ConfigurationError,
    DefinitionError,
    FaultsError,
    HorsiesError,
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
    "BuiltInErrorCode",
    "CancelAnswer",
    "ConfigurationError",
    "ContractErrorCode",
    "CustomQueueConfig",
    "DefinitionError",
    "Err",
    "ExceptionInfo",
    "Fault",
    "FaultsError",
    "Horsies",
    "HorsiesError",
    "Ok",
    "OperationalErrorCode",
    "OutcomeErrorCode",
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
    "gather",
    "gather_async",
]

for _error in (
    BrokerError,
    ConfigurationError,
    DefinitionError,
    FaultsError,
    HorsiesError,
    ResultAccessError,
    TaskInterrupted,
    TaskSendError,
):
    _error.__module__ = __name__  # tracebacks name them as users import them
