"""The built-in error codes are the agreed ones, each in one family."""

import pytest

from horsies.domain.codes import (
    MAPPABLE_CODES,
    RESERVED_CODES,
    ContractErrorCode,
    OperationalErrorCode,
    OutcomeErrorCode,
    RetrievalErrorCode,
    known_code,
)

AGREED = {
    OperationalErrorCode: """
        UNHANDLED_EXCEPTION TASK_EXCEPTION WORKER_CRASHED WORKER_SHUTDOWN BROKER_ERROR
        WORKER_RESOLUTION_ERROR WORKER_SERIALIZATION_ERROR RESULT_DESERIALIZATION_ERROR
        WORKFLOW_ENQUEUE_FAILED SUBWORKFLOW_LOAD_FAILED
    """,
    ContractErrorCode: "RETURN_TYPE_MISMATCH ARGUMENT_MISMATCH WORKFLOW_CTX_MISSING_ID",
    RetrievalErrorCode: """
        WAIT_TIMEOUT TASK_NOT_FOUND WORKFLOW_NOT_FOUND RESULT_NOT_AVAILABLE RESULT_NOT_READY
    """,
    OutcomeErrorCode: """
        TASK_CANCELLED TASK_EXPIRED TASK_TIMEOUT TASK_QUARANTINED WORKFLOW_PAUSED WORKFLOW_FAILED
        WORKFLOW_CANCELLED UPSTREAM_SKIPPED SUBWORKFLOW_FAILED WORKFLOW_SUCCESS_CASE_NOT_MET
    """,
}
MEMBERS = [code for family in AGREED for code in family]


@pytest.mark.parametrize("family", AGREED, ids=lambda family: family.__name__)
def test_a_family_holds_exactly_the_agreed_codes(family):
    assert [code.name for code in family] == AGREED[family].split()


@pytest.mark.parametrize("code", MEMBERS)
def test_a_code_reads_as_its_name(code):
    assert str(code) == code.value == code.name


def test_no_code_is_in_two_families():
    assert len(MEMBERS) == len({str(code) for code in MEMBERS})


def test_every_built_in_code_is_reserved():
    assert dict(RESERVED_CODES) == {code.name: code for code in MEMBERS}


def test_the_reserved_codes_cannot_be_changed():
    with pytest.raises(TypeError):
        RESERVED_CODES["MINE"] = OperationalErrorCode.BROKER_ERROR


@pytest.mark.parametrize("code", MEMBERS)
def test_a_built_in_code_that_travelled_as_text_is_its_member_again(code):
    assert known_code(code.value + "") is code


def test_a_users_code_stays_what_it_is():
    assert known_code("OUT_OF_PAPER") == "OUT_OF_PAPER"


def test_a_mapper_may_produce_only_the_codes_of_exceptions():
    assert set(MAPPABLE_CODES) == {"UNHANDLED_EXCEPTION", "TASK_EXCEPTION"}
