"""The error codes that Horsies itself writes; users' own codes are any other strings."""

from collections.abc import Mapping
from enum import StrEnum, auto
from types import MappingProxyType
from typing import TypeAlias


class _Code(StrEnum):
    """A string enum whose values are its names, so a code reads the same everywhere."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[str]) -> str:
        del start, count, last_values
        return name


class OperationalErrorCode(_Code):
    """Something around the task went wrong, not the task's own logic."""

    UNHANDLED_EXCEPTION = auto()
    TASK_EXCEPTION = auto()
    WORKER_CRASHED = auto()
    WORKER_SHUTDOWN = auto()
    BROKER_ERROR = auto()
    WORKER_RESOLUTION_ERROR = auto()
    WORKER_SERIALIZATION_ERROR = auto()
    RESULT_DESERIALIZATION_ERROR = auto()
    WORKFLOW_ENQUEUE_FAILED = auto()
    SUBWORKFLOW_LOAD_FAILED = auto()


class ContractErrorCode(_Code):
    """The caller and the function disagree about types or arguments."""

    RETURN_TYPE_MISMATCH = auto()
    ARGUMENT_MISMATCH = auto()
    WORKFLOW_CTX_MISSING_ID = auto()


class RetrievalErrorCode(_Code):
    """A result could not be read; the task itself may be fine."""

    WAIT_TIMEOUT = auto()
    TASK_NOT_FOUND = auto()
    WORKFLOW_NOT_FOUND = auto()
    RESULT_NOT_AVAILABLE = auto()
    RESULT_NOT_READY = auto()


class OutcomeErrorCode(_Code):
    """The task or workflow ended in a way that is not its own doing."""

    TASK_CANCELLED = auto()
    TASK_EXPIRED = auto()
    TASK_TIMEOUT = auto()
    TASK_QUARANTINED = auto()
    WORKFLOW_PAUSED = auto()
    WORKFLOW_FAILED = auto()
    WORKFLOW_CANCELLED = auto()
    UPSTREAM_SKIPPED = auto()
    SUBWORKFLOW_FAILED = auto()
    WORKFLOW_SUCCESS_CASE_NOT_MET = auto()


BuiltInErrorCode: TypeAlias = (
    OperationalErrorCode | ContractErrorCode | RetrievalErrorCode | OutcomeErrorCode
)

RESERVED_CODES: Mapping[str, BuiltInErrorCode] = MappingProxyType(
    {
        str(code): code
        for family in (
            OperationalErrorCode,
            ContractErrorCode,
            RetrievalErrorCode,
            OutcomeErrorCode,
        )
        for code in family
    }
)

MAPPABLE_CODES = frozenset(
    {OperationalErrorCode.UNHANDLED_EXCEPTION, OperationalErrorCode.TASK_EXCEPTION}
)
"""The only reserved codes that an exception mapper may produce."""


def known_code(code: str) -> str:
    """The enum member of a built-in code, so that `is` works after a trip over the wire."""
    return RESERVED_CODES.get(code, code)
