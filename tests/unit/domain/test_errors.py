"""The exceptions say what a caller needs in order to act."""

import pickle

import pytest

from horsies.domain.errors import (
    BrokerError,
    BrokerFault,
    ConfigurationError,
    DefinitionError,
    HorsiesError,
    ResultAccessError,
    TaskInterrupted,
    TaskSendError,
)
from horsies.domain.faults import Fault
from horsies.domain.result import TaskError
from horsies.domain.sending import SendErrorCode
from tests.unit.domain.strategies import TASK_ID, new_task

TASK = new_task(payload=b'{"secret": 1}')
LOST = TaskSendError(SendErrorCode.ENQUEUE_FAILED, "no answer", (TASK,))
REFUSED = TaskSendError(SendErrorCode.VALIDATION_FAILED, "n must be an int")


@pytest.mark.parametrize(
    "kind",
    [ConfigurationError, DefinitionError, TaskSendError, BrokerError, ResultAccessError],
)
def test_one_except_catches_everything_horsies_raises(kind: type[Exception]):
    assert issubclass(kind, HorsiesError)


def test_an_interruption_passes_through_except_exception():
    assert not issubclass(TaskInterrupted, Exception)


def test_a_send_error_carries_what_was_to_be_sent():
    assert (LOST.task_id, LOST.payload, LOST.tasks) == (TASK_ID, TASK.payload, (TASK,))


def test_a_send_error_without_a_task_has_no_id_and_no_payload():
    assert (REFUSED.task_id, REFUSED.payload) == (None, None)


def test_a_send_error_says_whether_a_retry_can_help():
    assert (LOST.retryable, REFUSED.retryable) == (True, False)


def test_a_send_error_reads_as_its_code_and_message():
    assert str(LOST) == "ENQUEUE_FAILED: no answer"


def test_a_broker_error_is_not_retryable_unless_told():
    assert not BrokerError("gone").retryable


def test_a_broker_error_may_be_retryable():
    assert BrokerError("busy", fault=BrokerFault.BUSY).retryable


@pytest.mark.parametrize(
    "error",
    [
        LOST,
        BrokerError("busy", fault=BrokerFault.BUSY),
        ResultAccessError("failed", TaskError("BOOM")),
        ConfigurationError([Fault("HRS-200", "wrong", "mend it")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_a_trip_between_processes(error: HorsiesError):
    arrived = pickle.loads(pickle.dumps(error))
    assert (str(arrived), vars(arrived)) == (str(error), vars(error))
