"""What a test sees of a send."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from horsies.application.registry import TaskRegistry
from horsies.domain.ids import TaskId
from horsies.domain.task import NewTask


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTask:
    task_id: TaskId
    name: str
    arguments: Mapping[str, Any]
    queue: str
    priority: int
    delay: timedelta | None
    eta: datetime | None
    good_until: datetime | None

    def has(self, arguments: Mapping[str, Any]) -> bool:
        return all(
            name in self.arguments and self.arguments[name] == value
            for name, value in arguments.items()
        )


def read_sent(new: NewTask, registry: TaskRegistry) -> SentTask:
    definition = registry.find(new.name)
    return SentTask(
        task_id=new.id,
        name=new.name,
        arguments=definition.codec.decode_call(new.payload) if definition else {},
        queue=new.queue,
        priority=new.priority,
        delay=new.delay,
        eta=new.eta,
        good_until=new.good_until,
    )


def no_such_send(
    task: object, arguments: Mapping[str, Any], sent: list[SentTask]
) -> AssertionError:
    wanted = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    lines = [f"  - {_shown(other)}" for other in sent]
    seen = "\n".join(["it was sent with:", *lines]) if sent else "it was not sent at all"
    return AssertionError(f"{task!r} was not sent with ({wanted}); {seen}")


def unwanted_send(task: object, found: list[SentTask]) -> AssertionError:
    lines = [f"  - {_shown(sent)}" for sent in found]
    return AssertionError("\n".join([f"{task!r} was sent all the same, with:", *lines]))


def _shown(sent: SentTask) -> str:
    return (
        ", ".join(f"{name}={value!r}" for name, value in sent.arguments.items()) or "no arguments"
    )
