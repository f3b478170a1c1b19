"""The HRS codes: one for each kind of fault that a configuration or a definition can have."""

from enum import StrEnum
from typing import Self


class Hrs(StrEnum):
    """001-099 workflows, 100-199 tasks, 200-299 configuration, 300-399 registry.

    >>> f"{Hrs.OUT_OF_RANGE}: {Hrs.OUT_OF_RANGE.meaning}"
    'HRS-200: a value outside its range'
    """

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Self:
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    NO_RETURN_TYPE = "HRS-100", "a task without a return annotation"
    WRONG_RETURN_TYPE = "HRS-101", "a return type other than TaskResult[T, TaskError]"
    UNANNOTATED_PARAMETER = "HRS-102", "a parameter without an annotation"
    UNRESOLVED_ANNOTATION = "HRS-103", "an annotation that cannot be resolved"
    UNFIT_TYPE = "HRS-104", "a type whose values cannot travel"
    UNSUPPORTED_PARAMETER = "HRS-105", "*args, **kwargs or a positional-only parameter"
    BAD_RETRY_POLICY = "HRS-106", "a retry policy that makes no sense"
    OPTION_OUT_OF_RANGE = "HRS-107", "an option of a task outside its range"
    BAD_TASK_NAME = "HRS-108", "a name that a task cannot have"
    NOT_A_FUNCTION = "HRS-109", "something that is not a plain or async function"
    BAD_TASK_MAPPER = "HRS-110", "an unusable exception mapper or error code of a task"
    UNKNOWN_QUEUE = "HRS-111", "a queue that the application does not have"
    NO_QUEUE = "HRS-112", "no queue given although the queues are custom ones"
    BAD_ON_FAILURE = "HRS-113", "an on_failure that is neither a task nor a task's name"
    BAD_HOOK = "HRS-114", "a middleware or a lifespan that cannot be one"

    OUT_OF_RANGE = "HRS-200", "a value outside its range"
    WRONG_TYPE = "HRS-201", "a value of the wrong type"
    UNUSABLE_DSN = "HRS-202", "a DSN that cannot be used"
    NO_DATABASE = "HRS-203", "no database configured where none is to be assumed"
    THRESHOLD_TOO_LOW = "HRS-204", "a stale threshold below twice its heartbeat interval"
    CAP_WITH_PREFETCH = "HRS-205", "a cluster-wide cap together with prefetch"
    BAD_QUEUES = "HRS-206", "queues or queue names that cannot be"
    BAD_SCHEMA = "HRS-207", "a schema name that is not a plain identifier"
    BAD_MAPPER = "HRS-208", "an unusable exception mapper or error code"
    MAXIMUM_TOO_LOW = "HRS-209", "a maximum below its minimum"
    CONTRADICTION = "HRS-210", "worker settings that contradict one another or the application"

    DUPLICATE_TASK = "HRS-300", "two tasks of one name"
    UNKNOWN_ON_FAILURE = "HRS-301", "an on_failure task that nobody registered"
    UNIMPORTABLE_MODULE = "HRS-302", "a module of tasks that cannot be imported"
    BAD_APP_LOCATOR = "HRS-303", "an app locator that leads to no app"
