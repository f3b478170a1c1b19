"""The registry: one task a name, former names included."""

from typing import Any

import pytest

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.define_task import TaskOptions, define_task
from horsies.application.definition import TaskDefinition
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.domain.faults import Fault
from horsies.domain.result import TaskError, TaskResult


def one() -> TaskResult[int, TaskError]:
    return TaskResult(ok=1)


def two() -> TaskResult[int, TaskError]:
    return TaskResult(ok=2)


def handler(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
    return TaskResult(ok=None)


@pytest.fixture
def registry() -> TaskRegistry:
    return TaskRegistry()


def add(
    registry: TaskRegistry, function: Any, name: str, **options: Any
) -> TaskDefinition | tuple[Fault, ...]:
    made = define_task(
        function,
        TaskOptions(name=name, **options),
        {},
        codec=MsgspecCodec(),
        config=AppConfig(),
        registry=registry,
    )
    if isinstance(made, TaskDefinition):
        registry.add(made)
    return made


def test_a_task_is_found_by_name_and_by_former_name(registry):
    task = add(registry, one, "new", aliases=["old", "older"])
    assert [registry.find(name) for name in ("new", "old", "older")] == [task] * 3
    assert registry.find("other") is None


def test_each_task_is_listed_once_in_order_of_name(registry):
    add(registry, two, "b", aliases=["0"])
    add(registry, one, "a")
    assert [task.name for task in registry] == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"name": "job"}, {"name": "job"}),
        ({"name": "job"}, {"name": "other", "aliases": ["job"]}),
        ({"name": "other", "aliases": ["job"]}, {"name": "job"}),
        ({"name": "x", "aliases": ["job"]}, {"name": "y", "aliases": ["job"]}),
    ],
)
def test_a_name_that_is_taken_is_hrs_300(registry, first, second):
    add(registry, one, **first)
    (fault,) = add(registry, two, **second)
    assert (fault.code, fault.message) == ("HRS-300", "the task name 'job' is taken")


def test_a_taken_name_says_where_it_was_taken_first(registry):
    first = add(registry, one, "job")
    (fault,) = add(registry, two, "job")
    assert fault.note == f"first defined at {first.location.file}:{first.location.line}"
    assert fault.location.source == "def two() -> TaskResult[int, TaskError]:"


def test_every_name_that_is_taken_is_a_fault(registry):
    add(registry, one, "job", aliases=["old"])
    assert [fault.code for fault in add(registry, two, "job", aliases=["old"])] == ["HRS-300"] * 2


def test_the_first_of_two_keeps_the_name(registry):
    first = add(registry, one, "job")
    add(registry, two, "job")
    assert registry.find("job") is first


def test_the_same_lines_run_again_are_the_same_task(registry):
    add(registry, one, "job")
    again = add(registry, one, "job")
    assert registry.find("job") is again


def test_a_task_may_name_itself_among_its_former_names(registry):
    assert isinstance(add(registry, one, "job", aliases=["job"]), TaskDefinition)


def test_an_on_failure_that_nobody_registered_is_hrs_301(registry):
    add(registry, one, "job", on_failure="nobody")
    (fault,) = registry.check()
    assert fault.code == "HRS-301"
    assert fault.message == "task 'job' calls 'nobody' on failure, but no task has that name"
    assert fault.location.source == "def one() -> TaskResult[int, TaskError]:"


def test_an_on_failure_may_be_registered_later(registry):
    add(registry, one, "job", on_failure="handler")
    add(registry, handler, "handler")
    assert registry.check() == []


def test_an_on_failure_may_be_a_former_name(registry):
    add(registry, one, "job", on_failure="old")
    add(registry, handler, "handler", aliases=["old"])
    assert registry.check() == []
    assert registry.terms_of(registry.find("job")).on_failure.name == "handler"


def test_a_handler_that_does_not_take_the_arguments_is_hrs_113(registry):
    add(registry, one, "job", on_failure="two")
    add(registry, two, "two")
    (fault,) = registry.check()
    assert fault.code == "HRS-113"
    assert fault.help == "declare it with (task_id: str, error: TaskError)"
    assert fault.location.source == "def two() -> TaskResult[int, TaskError]:"


def test_a_handler_whose_types_cannot_take_the_arguments_is_hrs_113(registry):
    def wrong(task_id: int, error: int) -> TaskResult[None, TaskError]:
        raise NotImplementedError

    add(registry, one, "job", on_failure="wrong")
    add(registry, wrong, "wrong")
    assert [fault.code for fault in registry.check()] == ["HRS-113"]


def test_a_handler_may_have_further_parameters_with_defaults(registry):
    def talkative(
        task_id: str, error: TaskError, channel: str = "ops"
    ) -> TaskResult[None, TaskError]:
        raise NotImplementedError

    add(registry, one, "job", on_failure="talkative")
    add(registry, talkative, "talkative")
    assert registry.check() == []


def test_a_task_without_handler_has_plain_terms(registry):
    terms = registry.terms_of(add(registry, one, "job"))
    assert (terms.retry, terms.timeout, terms.result_ttl, terms.on_failure) == (None,) * 4


def test_a_handler_defined_elsewhere_is_sent_to_the_queue_of_its_task(registry):
    terms = registry.terms_of(add(registry, one, "job", on_failure="elsewhere"))
    assert (terms.on_failure.name, terms.on_failure.queue) == ("elsewhere", "default")
