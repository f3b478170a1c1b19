"""Short words for what is sent."""

from typing import Any
from uuid import uuid4

from horsies.domain.ids import TaskId
from horsies.domain.sending import Batch
from horsies.domain.task import IdempotencyKey, NewTask


def new_task(**fields: Any) -> NewTask:
    return NewTask(**{"id": TaskId(uuid4()), "name": "ship", "queue": "default"} | fields)


def batch_of(*tasks: NewTask, **options: Any) -> Batch:
    return Batch(tasks=tasks, **options)


def keyed(key: str = "order-1", fingerprint: bytes = b"\x01\xff") -> NewTask:
    return new_task(idempotency=IdempotencyKey(key, fingerprint))
