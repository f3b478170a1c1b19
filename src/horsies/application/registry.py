"""The tasks an application knows, by name and by former name, and what is put around them."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from typing import Any

from horsies.application.definition import TaskDefinition
from horsies.application.hooks import Hooks
from horsies.application.hrs import Hrs
from horsies.application.ports.codec import UnfitValueError
from horsies.application.source import SourceLine
from horsies.domain.faults import Fault
from horsies.domain.task import FailureHandler, Terms

_A_FAILURE = b'{"task_id":"01890a5d-ac96-774b-bcce-b302099a8057","error":{"error_code":"BOOM"}}'
"""What an `on_failure` task is called with."""


class TaskRegistry:
    def __init__(self) -> None:
        self._by_name: dict[str, TaskDefinition] = {}
        self._terms: dict[str, Terms] = {}
        self._sync_names: frozenset[str] | None = None
        self.hooks = Hooks()

    def __iter__(self) -> Iterator[TaskDefinition]:
        """Each definition once, in order of name."""
        unique = {definition.name: definition for definition in self._by_name.values()}
        return iter(sorted(unique.values(), key=lambda definition: definition.name))

    def find(self, name: str) -> TaskDefinition | None:
        return self._by_name.get(name)

    @property
    def sync_names(self) -> frozenset[str]:
        """All names of tasks that are plain functions."""
        if self._sync_names is None:
            self._sync_names = frozenset(
                name for name, definition in self._by_name.items() if not definition.is_async
            )
        return self._sync_names

    def taken(
        self, names: Iterable[str], function: Callable[..., Any], place: SourceLine | None
    ) -> list[Fault]:
        """Names that belong to another task. The same lines run again are the same task."""
        return [
            _duplicate(name, place, other.location)
            for name in names
            if (other := self._by_name.get(name)) and not _same_source(function, place, other)
        ]

    def add(self, definition: TaskDefinition) -> None:
        for name in (definition.name, *definition.aliases):
            self._by_name[name] = definition
        self._terms.clear()  # a handler may have become known
        self._sync_names = None

    def terms_of(self, definition: TaskDefinition) -> Terms:
        """What is stored with each task of this definition."""
        terms = self._terms.get(definition.name)
        if terms is None:
            terms = replace(_own_terms(definition), on_failure=self._handler_of(definition))
            self._terms[definition.name] = terms
        return terms

    def check(self) -> list[Fault]:
        """What only shows when everything is defined."""
        return [fault for definition in self for fault in self._check_handler(definition)]

    def _handler_of(self, definition: TaskDefinition) -> FailureHandler | None:
        if definition.on_failure is None:
            return None
        handler = self.find(definition.on_failure)
        if handler is None:  # defined where this producer does not look: same queue, plain terms
            return FailureHandler(name=definition.on_failure, queue=definition.queue)
        return FailureHandler(name=handler.name, queue=handler.queue, terms=_own_terms(handler))

    def _check_handler(self, definition: TaskDefinition) -> Generator[Fault]:
        if definition.on_failure is None:
            return
        handler = self.find(definition.on_failure)
        if handler is None:
            yield Fault(
                Hrs.UNKNOWN_ON_FAILURE,
                f"task {definition.name!r} calls {definition.on_failure!r} on failure, "
                "but no task has that name",
                "define that task, or name its module in discover_tasks",
                definition.location,
            )
        elif not _takes_failures(handler):
            yield Fault(
                Hrs.BAD_ON_FAILURE,
                f"task {handler.name!r} is called on failure of {definition.name!r}, "
                "but does not take its arguments",
                "declare it with (task_id: str, error: TaskError)",
                handler.location,
            )


def _takes_failures(handler: TaskDefinition) -> bool:
    try:
        return handler.codec.decode_call(_A_FAILURE).keys() == {"task_id", "error"}
    except UnfitValueError:
        return False


def _own_terms(definition: TaskDefinition) -> Terms:
    return Terms(
        retry=definition.retry.snapshot() if definition.retry else None,
        timeout=definition.timeout,
        result_ttl=definition.result_ttl,
    )


def _same_source(
    function: Callable[..., Any], place: SourceLine | None, other: TaskDefinition
) -> bool:
    return (
        place is not None
        and place == other.location
        and function.__qualname__ == other.function.__qualname__
    )


def _duplicate(name: str, place: SourceLine | None, other: SourceLine | None) -> Fault:
    return Fault(
        Hrs.DUPLICATE_TASK,
        f"the task name {name!r} is taken",
        "give one of the two another name; tasks are found by name wherever they run",
        place,
        f"first defined at {other.file}:{other.line}" if other else None,
    )
