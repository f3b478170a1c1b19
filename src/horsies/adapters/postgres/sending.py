"""What a send asks of the database, as scripts that run on connections of any kind."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horsies.adapters.postgres.queries import Queries
from horsies.adapters.postgres.rows import Row
from horsies.adapters.postgres.scripts import Ask, Script
from horsies.adapters.postgres.terms import encode_terms
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.ids import TaskId
from horsies.domain.sending import Accepted, AlreadyThere, Batch, KeyTaken, QueueFull, Receipt
from horsies.domain.task import NewTask

NO_SETTINGS: Mapping[str, str] = {}

_TRIES_FOR_A_KEY = 3


class SendScripts:
    """`lock_prefix` keeps the turns of one schema apart from another's.

    `settings` are for connections that do not bring them: behind poolers, and of callers.
    """

    def __init__(
        self, queries: Queries, lock_prefix: str, settings: Mapping[str, str] = NO_SETTINGS
    ) -> None:
        self._queries = queries
        self._lock_prefix = lock_prefix
        self._settings = settings

    def is_one_statement(self, batch: Batch) -> bool:
        """Whether one statement is all there is to it, so that it needs no transaction."""
        return not self._settings and not batch.max_pending and are_alike(batch)

    def accept(self, batch: Batch, now: datetime | None) -> Script[list[Receipt]]:
        """Recognise what is known, make sure of room, then insert the rest."""
        if self._settings:
            names, values = list(self._settings), list(self._settings.values())
            yield self._ask("settings", names=names, settings=values)
        receipts = (yield from self._known(batch.tasks)) if batch.replay else {}
        fresh = [task for task in batch.tasks if task.id not in receipts]
        limited = {task.queue for task in fresh} & batch.max_pending.keys()
        if limited:
            yield from self._take_turns(limited)
            receipts |= yield from self._taken_keys(fresh, now)
            fresh = [task for task in fresh if task.id not in receipts]
            full = yield from self._full(fresh, batch.max_pending)
            if full is not None:
                return [full] * len(batch.tasks)
        receipts |= yield from self._reserve_keys(fresh, batch, now)
        fresh = [task for task in fresh if task.id not in receipts]
        for values in groups(fresh, now):
            yield Ask(self._queries("enqueue"), values, answers=False)
        if batch.replay and fresh:
            receipts |= yield from self._without_second_copies(fresh)
        return [receipts.get(task.id, Accepted(task.id)) for task in batch.tasks]

    def _known(self, tasks: Sequence[NewTask]) -> Script[dict[TaskId, Receipt]]:
        return _copies((yield self._ask("known_sends", ids=_ids(tasks))))

    def _take_turns(self, queues: set[str]) -> Script[None]:
        for queue in sorted(queues):
            yield self._ask("lock_bounded_queue", lock=f"{self._lock_prefix} {queue}")

    def _full(
        self, fresh: Sequence[NewTask], limits: Mapping[str, int]
    ) -> Script[QueueFull | None]:
        for queue, added in Counter(task.queue for task in fresh).items():
            limit = limits.get(queue)
            if limit is None:
                continue
            ask = self._ask("count_waiting", queue_name=queue, enough=limit + 1)
            if (yield ask)[0][0] + added > limit:
                return QueueFull(queue, limit)
        return None

    def _taken_keys(
        self, tasks: Sequence[NewTask], now: datetime | None
    ) -> Script[dict[TaskId, Receipt]]:
        taken: dict[TaskId, Receipt] = {}
        for task in tasks:
            holder = yield from self._holder(task, now)
            if holder is not None:
                taken[task.id] = holder
        return taken

    def _reserve_keys(
        self, tasks: Sequence[NewTask], batch: Batch, now: datetime | None
    ) -> Script[dict[TaskId, Receipt]]:
        taken: dict[TaskId, Receipt] = {}
        for task in tasks:
            holder = yield from self._reserve(task, batch, now)
            if holder is not None:
                taken[task.id] = holder
        return taken

    def _reserve(
        self, task: NewTask, batch: Batch, now: datetime | None
    ) -> Script[KeyTaken | None]:
        key = task.idempotency
        if key is None:
            return None
        for _ in range(_TRIES_FOR_A_KEY):  # its window may end between the two looks
            reserved = yield self._ask(
                "reserve_key",
                task_name=task.name,
                key=key.key,
                task_id=str(task.id),
                fingerprint=key.fingerprint.hex(),
                window=batch.key_window.total_seconds(),
                now=now,
            )
            if reserved:
                return None
            holder = yield from self._holder(task, now)
            if holder is not None:
                return holder
        raise BrokerError("an idempotency key changes hands too fast", fault=BrokerFault.CONFLICT)

    def _holder(self, task: NewTask, now: datetime | None) -> Script[KeyTaken | None]:
        if task.idempotency is None:
            return None
        rows = yield self._ask("find_key", task_name=task.name, key=task.idempotency.key, now=now)
        return KeyTaken(rows[0][0], bytes.fromhex(rows[0][1])) if rows else None

    def _without_second_copies(self, inserted: Sequence[NewTask]) -> Script[dict[TaskId, Receipt]]:
        ended = _copies((yield self._ask("ended_copies", ids=_ids(inserted))))
        if ended:
            doubled = [str(task_id) for task_id in ended]
            yield Ask(self._queries("take_back_copies"), {"ids": doubled}, answers=False)
        return ended

    def _ask(self, query: str, **values: Any) -> Ask:
        return Ask(self._queries(query), values)


def are_alike(batch: Batch) -> bool:
    """Whether its tasks are new for certain, and differ in nothing but ids and arguments."""
    if batch.replay or not batch.tasks:
        return False
    first, *others = batch.tasks
    if first.idempotency is not None:
        return False
    common = _common(first)
    return all(task.idempotency is None and _common(task) == common for task in others)


def groups(tasks: Sequence[NewTask], now: datetime | None) -> list[dict[str, Any]]:
    """The values of `enqueue` for tasks that differ in nothing but id and arguments."""
    alike: defaultdict[tuple[object, ...], list[NewTask]] = defaultdict(list)
    for task in tasks:
        alike[_common(task)].append(task)
    return [_values(group, now) for group in alike.values()]


def _common(task: NewTask) -> tuple[object, ...]:
    """Objects that are shared are compared by identity: equal ones would cost more to find."""
    return (
        task.name,
        task.queue,
        task.priority,
        task.delay,
        task.eta,
        task.good_until,
        id(task.terms),
        id(task.headers),
        task.retry_of,
    )


def _values(tasks: Sequence[NewTask], now: datetime | None) -> dict[str, Any]:
    args = [task.payload.decode() for task in tasks]
    return {"ids": _ids(tasks), "args": args, **common_values(tasks[0], now)}


def common_values(task: NewTask, now: datetime | None) -> dict[str, Any]:
    """A delay is seconds: to an interval of days a caller's time zone might add an hour."""
    headers = task.headers
    return {
        "task_name": task.name,
        "queue_name": task.queue,
        "priority": task.priority,
        "terms": encode_terms(task.terms),
        "result_ttl": task.terms.result_ttl,
        "good_until": task.good_until,
        "headers": None if headers is None else json.dumps(dict(headers)),
        "retry_of": None if task.retry_of is None else str(task.retry_of),
        "eta": task.eta,
        "delay": None if task.delay is None else task.delay.total_seconds(),
        "now": now,
    }


def _ids(tasks: Sequence[NewTask]) -> list[str]:
    """As text: every driver can send that."""
    return [str(task.id) for task in tasks]


def _copies(rows: Sequence[Row]) -> dict[TaskId, Receipt]:
    return {TaskId(row[0]): AlreadyThere(row[0], row[1], row[2].encode()) for row in rows}
