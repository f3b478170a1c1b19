"""Signatures: what a task takes and gives, and why it cannot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

import pytest

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.define_task import TaskOptions, define_task
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.domain.result import TaskError, TaskResult
from tests.unit.application.defining import T, Unfit, codes, defined, faults


class TestReturnType:
    def test_a_missing_one_is_hrs_100(self):
        def job():
            return TaskResult(ok=1)

        (fault,) = faults(job)
        assert (fault.code, fault.message) == ("HRS-100", "the task does not say what it returns")
        assert fault.help == "annotate it with -> TaskResult[..., TaskError]"

    @pytest.mark.parametrize(
        ("annotation", "shown"),
        [
            (int, "int"),
            (None, "None"),
            (TaskResult, "TaskResult"),
            (TaskResult[int, str], "TaskResult[int, str]"),
            (dict[str, int], "dict[str, int]"),
            (Any, "Any"),
        ],
    )
    def test_any_other_is_hrs_101(self, annotation, shown):
        def job():
            raise NotImplementedError

        job.__annotations__["return"] = annotation
        (fault,) = faults(job)
        assert fault.code == "HRS-101"
        assert shown in fault.message

    @pytest.mark.parametrize("value", [int, None, str | None, list[int], dict[str, Any], Any])
    def test_a_result_of_any_fit_type_is_accepted(self, value):
        def job():
            raise NotImplementedError

        job.__annotations__["return"] = TaskResult[value, TaskError]
        assert defined(job).signature.result in (value, type(value))

    def test_an_unfit_one_is_hrs_104(self):
        def job() -> TaskResult[Unfit, TaskError]:
            raise NotImplementedError

        (fault,) = faults(job)
        assert fault.code == "HRS-104"
        assert fault.message.startswith("the result: ")
        assert "Unfit" in fault.message


class TestParameters:
    def test_one_without_a_type_is_hrs_102(self):
        def job(x, y: int) -> TaskResult[int, TaskError]:
            raise NotImplementedError

        (fault,) = faults(job)
        assert (fault.code, fault.message) == ("HRS-102", "parameter 'x' has no type")

    def test_an_annotation_that_leads_nowhere_is_hrs_103(self):
        def job(x: "Nowhere") -> TaskResult[int, TaskError]:  # noqa: F821 # pyright: ignore[reportUndefinedVariable] - the fault under test
            raise NotImplementedError

        (fault,) = faults(job)
        assert fault.code == "HRS-103"
        assert "name 'Nowhere' is not defined" in fault.message

    @pytest.mark.parametrize("annotation", [Unfit, Callable[[], int], Iterator[int], T, type])
    def test_an_unfit_type_is_hrs_104(self, annotation):
        def job(x) -> TaskResult[int, TaskError]:
            raise NotImplementedError

        job.__annotations__["x"] = annotation
        (fault,) = faults(job)
        assert fault.code == "HRS-104"
        assert fault.message.startswith("parameter 'x': ")

    def test_an_open_type_variable_is_unfit(self):
        @dataclass
        class Box(Generic[T]):
            content: T

        def job(x: Box[T]) -> TaskResult[int, TaskError]:
            raise NotImplementedError

        assert codes(job) == ["HRS-104"]

    @pytest.mark.parametrize(
        "source",
        ["def job(x: int, /)", "def job(*args: int)", "def job(**kwargs: int)"],
    )
    def test_one_that_has_no_name_on_the_wire_is_hrs_105(self, source):
        scope = {"TaskResult": TaskResult, "TaskError": TaskError}
        exec(f"{source} -> TaskResult[int, TaskError]: ...", scope)
        assert codes(scope["job"]) == ["HRS-105"]

    def test_a_method_is_hrs_105(self):
        class Shop:
            def job(self, x: int) -> TaskResult[int, TaskError]:
                raise NotImplementedError

        (fault,) = faults(Shop.job)
        assert fault.code == "HRS-105"
        assert "a task cannot be a method" in fault.message

    def test_a_keyword_only_one_is_accepted(self):
        def job(x: int, *, y: int = 1) -> TaskResult[int, TaskError]:
            raise NotImplementedError

        assert [p.keyword_only for p in defined(job).signature.parameters] == [False, True]

    def test_a_type_that_says_cannot_travel_says_it_once(self):
        def job(x: Unfit) -> TaskResult[int, TaskError]:
            raise NotImplementedError

        (fault,) = faults(job)
        assert fault.message.count("cannot travel") == 1

    def test_an_annotation_that_leads_nowhere_names_its_parameter(self):
        def job(x: int, y: "Nowhere") -> TaskResult[int, TaskError]:  # noqa: F821 # pyright: ignore[reportUndefinedVariable] - the fault under test
            raise NotImplementedError

        (fault,) = faults(job)
        assert "'y'" in fault.message

    def test_an_annotation_that_leads_nowhere_hides_no_other_fault(self):
        def job(x: Unfit, y: "Nowhere") -> int:  # noqa: F821 # pyright: ignore[reportUndefinedVariable] - the fault under test
            raise NotImplementedError

        assert sorted(codes(job)) == ["HRS-101", "HRS-103", "HRS-104"]


def test_types_named_where_the_function_was_written_are_found_through_its_scope():
    @dataclass
    class Local:
        n: int

    def job(x: "Local") -> "TaskResult[Local, TaskError]":
        raise NotImplementedError

    made = define_task(
        job,
        TaskOptions(name="job"),
        {"Local": Local},
        codec=MsgspecCodec(),
        config=AppConfig(),
        registry=TaskRegistry(),
    )
    assert made.signature.result is Local
