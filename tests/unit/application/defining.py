"""Short words for definitions in laws."""

from typing import Any, TypeVar

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.define_task import TaskOptions, define_task
from horsies.application.definition import TaskDefinition
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.application.settings.queues import CustomQueueConfig, QueueMode
from horsies.domain.faults import Fault
from horsies.domain.result import TaskError, TaskResult

CUSTOM = AppConfig(
    queue_mode=QueueMode.CUSTOM, custom_queues=[CustomQueueConfig("a"), CustomQueueConfig("b")]
)
T = TypeVar("T")


def define(
    function: Any, name: Any = "job", config: AppConfig | None = None, **options: Any
) -> TaskDefinition | tuple[Fault, ...]:
    return define_task(
        function,
        TaskOptions(name=name, **options),
        {},
        codec=MsgspecCodec(),
        config=config or AppConfig(),
        registry=TaskRegistry(),
    )


def defined(function: Any, *args: Any, **options: Any) -> TaskDefinition:
    made = define(function, *args, **options)
    assert isinstance(made, TaskDefinition), made
    return made


def faults(function: Any, *args: Any, **options: Any) -> list[Fault]:
    made = define(function, *args, **options)
    assert not isinstance(made, TaskDefinition)
    return list(made)


def codes(function: Any, *args: Any, **options: Any) -> list[str]:
    return [str(fault.code) for fault in faults(function, *args, **options)]


def good(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)


class Unfit:
    pass
