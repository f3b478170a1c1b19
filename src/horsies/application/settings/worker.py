"""The configuration of one worker."""

import logging
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from horsies.application.hrs import Hrs
from horsies.application.settings.app import AppConfig
from horsies.application.settings.checks import (
    Readable,
    Rule,
    Settings,
    mapping_of,
    one_of,
    or_none,
    raise_any,
    sequence_of,
    shown,
    text,
    whole,
)
from horsies.application.settings.names import MAX_WORKER_NAME_BYTES, name_faults
from horsies.application.settings.postgres import DSN
from horsies.application.settings.queues import (
    MAX_CONCURRENCY,
    PRIORITY,
    QUEUE_NAME,
    duplicate_faults,
)
from horsies.application.settings.secret import Secret
from horsies.domain.faults import Fault
from horsies.domain.queue import Queue


def _usable_cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _level(value: int | str) -> int | None:
    names = logging.getLevelNamesMapping()
    return names.get(value.upper()) if isinstance(value, str) else value


def _level_faults(name: str, value: int | str) -> Iterator[Fault]:
    level = _level(value)
    if level is None or level < 0:
        yield Fault(
            Hrs.OUT_OF_RANGE,
            f"{name} cannot be {shown(value)}",
            "pass DEBUG, INFO, WARNING, ERROR or CRITICAL, or a number of the logging module",
        )


_NAME = text(partial(name_faults, hrs=Hrs.OUT_OF_RANGE, max_bytes=MAX_WORKER_NAME_BYTES))
_LEVEL = Rule(
    "the name or number of a log level",
    lambda value: isinstance(value, str | int) and not isinstance(value, bool),
    _level_faults,
    _level,
)


@dataclass(frozen=True, kw_only=True)
class WorkerConfig(Settings):
    """What one worker does; everything has a default.

    `processes=0` runs tasks in the worker itself. `queues=()` serves all; `queue_priorities` and
    `queue_max_concurrency` adjust them for this worker, and may only lower a cap. Of the limits,
    0 stands for: as many as there is room (`max_claim_*`), never (`max_tasks_per_child`), off
    (`run_ahead_ms`). `shutdown_grace_ms=None` waits until running tasks end.

    >>> WorkerConfig(processes=4, queues=["emails"]).queues
    ('emails',)
    """

    dsn: str | Secret | None = field(
        default=None,
        metadata={"rule": or_none(DSN), "means": "another database than the app's; secret"},
    )
    app_locator: str | None = field(
        default=None,
        metadata={
            "rule": or_none(text()),
            "means": "where children find the app, as package.module:app",
        },
    )
    imports: Sequence[str] = field(
        default=(),
        metadata={
            "rule": sequence_of(text()),
            "means": "modules of tasks besides those the app discovers",
        },
    )
    queues: Sequence[str] = field(
        default=(),
        metadata={
            "rule": sequence_of(QUEUE_NAME, duplicate_faults),
            "means": "the queues to serve; none named: all",
        },
    )
    processes: int = field(
        default_factory=_usable_cpus,
        metadata={
            "rule": whole(0, 1_000),
            "means": "child processes; 0: tasks run in the worker itself",
        },
    )
    concurrency: int = field(
        default=16,
        metadata={"rule": whole(1, 100_000), "means": "async tasks at a time in each child"},
    )
    start_method: str = field(
        default="forkserver",
        metadata={
            "rule": one_of("forkserver", "spawn"),
            "means": "how children begin: by a fork of a clean process, or as new interpreters",
        },
    )
    max_claim_batch: int = field(
        default=0,
        metadata={
            "rule": whole(0),
            "means": "most tasks taken from a queue at a time; 0: as many as there is room",
        },
    )
    max_claim_per_worker: int = field(
        default=0,
        metadata={"rule": whole(0), "means": "most tasks held at a time; 0: slots and prefetch"},
    )
    queue_priorities: Mapping[str, int] = field(
        default_factory=dict[str, int],
        metadata={
            "rule": mapping_of(PRIORITY),
            "means": "other priorities of queues for this worker",
        },
    )
    queue_max_concurrency: Mapping[str, int] = field(
        default_factory=dict[str, int],
        metadata={
            "rule": mapping_of(MAX_CONCURRENCY),
            "means": "lower caps of queues for this worker",
        },
    )
    coalesce_notifies: int = field(
        default=100, metadata={"rule": whole(1), "means": "notifications drained at one waking"}
    )
    loglevel: int | str = field(
        default=logging.INFO, metadata={"rule": _LEVEL, "means": "what is logged"}
    )
    name: str = field(
        default_factory=socket.gethostname,
        metadata={"rule": _NAME, "means": "what operators call it"},
    )
    max_tasks_per_child: int = field(
        default=0,
        metadata={"rule": whole(0), "means": "tasks after which a child is replaced; 0: never"},
    )
    max_memory_per_child_mb: int | None = field(
        default=None,
        metadata={
            "rule": or_none(whole(1)),
            "means": "memory at which a child is replaced; None: never",
        },
    )
    run_ahead_ms: int = field(
        default=5,
        metadata={
            "rule": whole(0, 10_000),
            "means": "predicted work handed to a child ahead of need; 0: off",
        },
    )
    shutdown_grace_ms: int | None = field(
        default=None,
        metadata={
            "rule": or_none(whole(0)),
            "means": "how long a stopping worker lets tasks run; None: to their end",
        },
    )
    kill_grace_ms: int = field(
        default=5_000,
        metadata={
            "rule": whole(0),
            "means": "between asking a task to stop and killing its process",
        },
    )

    @property
    def loglevel_number(self) -> int:
        return _level(self.loglevel) or logging.INFO

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        for name in ("queue_priorities", "queue_max_concurrency"):
            if readable(name, "queues") and self.queues:
                yield from _unserved(name, getattr(self, name), self.queues)
        for name in ("max_tasks_per_child", "max_memory_per_child_mb"):
            if readable("processes", name) and self.processes == 0 and getattr(self, name):
                yield Fault(
                    Hrs.CONTRADICTION,
                    f"WorkerConfig.{name} is set, but processes is 0, so there are no children",
                    f"leave out {name}, or let processes be 1 or more",
                )


def served_queues(app: AppConfig, worker: WorkerConfig) -> tuple[Queue, ...]:
    """The application's queues as this worker serves them.

    >>> [queue.priority for queue in served_queues(
    ...     AppConfig(), WorkerConfig(queue_priorities={"default": 7}))]
    [7]
    """
    queues = {queue.name: queue for queue in app.queues()}
    raise_any(_faults_against(queues, worker))
    return tuple(
        replace(
            queue,
            priority=worker.queue_priorities.get(name, queue.priority),
            max_concurrency=worker.queue_max_concurrency.get(name, queue.max_concurrency),
        )
        for name, queue in queues.items()
        if name in (worker.queues or queues)
    )


def _faults_against(queues: Mapping[str, Queue], worker: WorkerConfig) -> Iterator[Fault]:
    for name in ("queues", "queue_priorities", "queue_max_concurrency"):
        yield from _unserved(name, getattr(worker, name), queues)
    for name, cap in worker.queue_max_concurrency.items():
        limit = queues[name].max_concurrency if name in queues else None
        if limit is not None and cap > limit:
            yield Fault(
                Hrs.CONTRADICTION,
                f"WorkerConfig.queue_max_concurrency[{shown(name)}] is {cap:_},"
                f" above the queue's own {limit:_}",
                f"pass at most {limit:_}: a worker may only lower a cap",
            )


def _unserved(name: str, queues: Iterable[str], known: Iterable[str]) -> Iterator[Fault]:
    known = sorted(known)
    for queue in queues:
        if queue not in known:
            yield Fault(
                Hrs.CONTRADICTION,
                f"WorkerConfig.{name} names {shown(queue)}, which is not one of the queues",
                f"choose from {', '.join(map(shown, known))}",
            )
