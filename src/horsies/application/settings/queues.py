"""The queues of an application."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from horsies.application.hrs import Hrs
from horsies.application.settings.checks import Settings, or_none, shown, text, whole
from horsies.application.settings.names import MAX_QUEUE_NAME_BYTES, name_faults
from horsies.domain.faults import Fault
from horsies.domain.queue import Queue

QUEUE_NAME = text(partial(name_faults, hrs=Hrs.BAD_QUEUES, max_bytes=MAX_QUEUE_NAME_BYTES))
PRIORITY = whole(1, 100)
MAX_CONCURRENCY = whole(0)


class QueueMode(StrEnum):
    """Whether there is one queue, called "default", or those that the configuration lists."""

    DEFAULT = "default"
    CUSTOM = "custom"


def duplicate_faults(name: str, queues: Iterable[str]) -> Iterator[Fault]:
    for queue, times in Counter(queues).items():
        if times > 1:
            yield Fault(
                Hrs.BAD_QUEUES,
                f"{name} has the queue {shown(queue)} {times} times",
                "name each queue once",
            )


@dataclass(frozen=True, kw_only=True)
class CustomQueueConfig(Settings):
    """A queue of its own.

    Queues of a lower `priority` number are served first. `max_concurrency` counts the tasks that
    all workers together hold from this queue; 0 stops it. Past `max_pending` waiting tasks a send
    is refused.

    >>> CustomQueueConfig("emails", priority=2, max_concurrency=10).queue.capped
    True
    """

    name: str = field(kw_only=False, metadata={"rule": QUEUE_NAME, "means": "what tasks call it"})
    priority: int = field(
        default=1,
        metadata={
            "rule": PRIORITY,
            "means": "1 is served first, before any priority of tasks; equal ones are pooled",
        },
    )
    max_concurrency: int | None = field(
        default=None,
        metadata={
            "rule": or_none(MAX_CONCURRENCY),
            "means": "most tasks in flight across all workers; None: any, 0: it stands still",
        },
    )
    max_pending: int | None = field(
        default=None,
        metadata={
            "rule": or_none(whole(1)),
            "means": "most waiting tasks, scheduled ones included; a send past it is QUEUE_FULL",
        },
    )

    @property
    def queue(self) -> Queue:
        return Queue(
            name=self.name,
            priority=self.priority,
            max_concurrency=self.max_concurrency,
            max_pending=self.max_pending,
        )
