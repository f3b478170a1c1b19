"""The statements, one file each, with the schema's name filled in."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from psycopg import sql

_part = re.compile(r"\{part:(\w+)\}")

LIVE_COLUMNS = (
    "id, task_name, queue_name, args, priority, terms, result_ttl, good_until, headers, retry_of, "
    "sent_at, enqueued_at, claimable, status, epoch, attempt, retries, crashes, worker_id, "
    "claimed_at, started_at, next_retry_at, cancel_requested_at, unresolved_since, error_code, "
    "NULL::timestamptz AS finished_at, NULL::text AS result"
)
ENDED_COLUMNS = (
    LIVE_COLUMNS.replace("claimable", "false")
    .replace("NULL::timestamptz AS ", "")
    .replace("NULL::text AS ", "")
)
HISTORY_COLUMNS = (
    "id, task_name, queue_name, args, priority, terms, result_ttl, good_until, headers, retry_of, "
    "sent_at, enqueued_at, status, epoch, attempt, retries, crashes, worker_id, claimed_at, "
    "started_at, next_retry_at, cancel_requested_at, unresolved_since, error_code, unique_key, "
    "concurrency_key, fairness_key, workflow_id, finished_at, purge_at, result"
)


CLAIMED_COLUMNS = (
    "id, epoch, task_name, queue_name, args, attempt, crashes, terms, priority, enqueued_at, "
    "retries, result_ttl, good_until, headers, retry_of, sent_at, unresolved_since"
)
"""What a claim leaves to be said: the rest of a row is the same for all that it takes."""

VARIANTS = {
    "turn_over": ("turn_over", {"take": "take_from_several"}),
    "turn_over_one_queue": ("turn_over", {"take": "take_from_one"}),
}
"""Statements that differ from another in some of their parts alone."""


class Queries:
    """`queries("promote")` is the text of sql/promote.sql for one schema."""

    def __init__(self, schema: str) -> None:
        self._schema = schema
        self._texts: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        text = self._texts.get(name)
        if text is None:
            file, parts = VARIANTS.get(name, (name, {}))
            text = self._texts[name] = fill(_whole(file, parts), self._schema)
        return text


def _whole(file: str, parts: Mapping[str, str]) -> str:
    """A statement with its parts in place; parts may have parts."""
    text = _read(f"sql/{file}.sql")
    for place in _part.findall(text):
        part = _whole(f"parts/{parts.get(place, place)}", parts)
        text = text.replace(f"{{part:{place}}}", part.strip())
    return text


def fill(template: str, schema: str, **literals: str) -> str:
    """Identifiers and literals enter a statement here and nowhere else, quoted by the driver."""
    return (
        sql.SQL(template)  # pyright: ignore[reportArgumentType] - a file of ours, not a literal
        .format(
            schema=sql.Identifier(schema),
            live_columns=sql.SQL(LIVE_COLUMNS),
            ended_columns=sql.SQL(ENDED_COLUMNS),
            history_columns=sql.SQL(HISTORY_COLUMNS),
            claimed_columns=sql.SQL(CLAIMED_COLUMNS),
            **{name: sql.Literal(value) for name, value in literals.items()},
        )
        .as_string(None)
    )


@cache
def _read(path: str) -> str:
    return (files(__package__ or "") / path).read_text(encoding="utf-8")
