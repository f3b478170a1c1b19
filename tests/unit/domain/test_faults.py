"""A fault reads like a good compiler's: what, where, and what to do."""

from dataclasses import dataclass, replace

import pytest

from horsies.domain.errors import ConfigurationError, DefinitionError, FaultsError, HorsiesError
from horsies.domain.faults import Fault, in_source_order, render_report


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    source: str = ""


BARE = Fault("HRS-203", "no database is configured", "set HORSIES_DATABASE_URL")
PLACED = Fault(
    "HRS-101",
    "the task has no return type",
    "annotate it: -> TaskResult[str, TaskError]",
    Place("jobs.py", 12, "def resize(image_id: int):"),
)


def test_a_fault_without_a_place_is_two_lines():
    assert BARE.render() == (
        "error[HRS-203]: no database is configured\n = help: set HORSIES_DATABASE_URL"
    )


def test_a_fault_with_a_place_shows_the_line():
    assert PLACED.render() == (
        "error[HRS-101]: the task has no return type\n"
        "  --> jobs.py:12\n"
        "   |\n"
        "12 | def resize(image_id: int):\n"
        "   |\n"
        "   = help: annotate it: -> TaskResult[str, TaskError]"
    )


def test_a_fault_whose_source_cannot_be_read_shows_the_place_alone():
    fault = replace(PLACED, location=Place("jobs.py", 7))
    assert fault.render() == (
        "error[HRS-101]: the task has no return type\n"
        " --> jobs.py:7\n"
        "  = help: annotate it: -> TaskResult[str, TaskError]"
    )


def test_a_note_stands_before_the_help():
    assert replace(BARE, note="DATABASE_URL is empty").render() == (
        "error[HRS-203]: no database is configured\n"
        " = note: DATABASE_URL is empty\n"
        " = help: set HORSIES_DATABASE_URL"
    )


def test_a_note_of_a_placed_fault_stands_under_its_line():
    assert (
        replace(PLACED, note="found None")
        .render()
        .endswith(
            "   |\n   = note: found None\n   = help: annotate it: -> TaskResult[str, TaskError]"
        )
    )


@pytest.mark.parametrize(
    ("count", "closing"), [(0, "0 faults found"), (1, "1 fault found"), (2, "2 faults found")]
)
def test_a_report_closes_with_the_count(count: int, closing: str):
    assert render_report([BARE] * count).split("\n\n")[-1] == closing


def test_a_report_tells_every_fault_in_full():
    assert render_report([BARE, PLACED]) == (
        f"{BARE.render()}\n\n{PLACED.render()}\n\n2 faults found"
    )


def test_faults_come_in_the_order_of_the_source():
    late = replace(PLACED, location=Place("jobs.py", 100))
    other_file = replace(PLACED, location=Place("app.py", 500))
    assert in_source_order([late, PLACED, other_file]) == (other_file, PLACED, late)


def test_faults_without_a_place_come_first():
    assert in_source_order([PLACED, BARE]) == (BARE, PLACED)


def test_faults_of_one_line_come_in_the_order_of_their_codes():
    second = replace(PLACED, code="HRS-102")
    assert in_source_order([second, PLACED]) == (PLACED, second)


def test_equal_faults_keep_the_order_in_which_they_were_found():
    first, second = replace(BARE, message="first"), replace(BARE, message="second")
    assert in_source_order([first, second]) == (first, second)


@pytest.mark.parametrize("kind", [ConfigurationError, DefinitionError])
def test_faults_are_raised_as_a_value_error_of_horsies(kind: type[FaultsError]):
    assert issubclass(kind, ValueError)
    assert issubclass(kind, HorsiesError)


def test_an_error_holds_its_faults_in_source_order():
    assert ConfigurationError([PLACED, BARE]).faults == (BARE, PLACED)


def test_an_error_begins_with_its_first_fault_and_goes_on_with_the_report():
    error = DefinitionError([BARE])
    assert str(error) == f"{BARE.code}: {BARE.message}\n\n{render_report([BARE])}"
