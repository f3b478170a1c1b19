"""Log lines that say which run they are of. Arguments are never part of them."""

import logging
from collections.abc import MutableMapping
from typing import Any

LOGGER = "horsies.task"

FIELDS = ("task_id", "task", "attempt")
"""The attributes of a record that was made in a task."""


class TaskLog(logging.LoggerAdapter[logging.Logger]):
    """What a caller gives as `extra` is kept beside the task's own."""

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, {**kwargs, "extra": {**(kwargs.get("extra") or {}), **(self.extra or {})}}
