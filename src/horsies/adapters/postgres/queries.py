"""The statements, one file each, with the schema's name filled in."""

from functools import cache
from importlib.resources import files

from psycopg import sql

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


class Queries:
    """`queries("claim")` is the text of sql/claim.sql for one schema."""

    def __init__(self, schema: str) -> None:
        self._schema = schema
        self._texts: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        text = self._texts.get(name)
        if text is None:
            text = self._texts[name] = fill(_read(f"sql/{name}.sql"), self._schema)
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
            **{name: sql.Literal(value) for name, value in literals.items()},
        )
        .as_string(None)
    )


@cache
def _read(path: str) -> str:
    return (files(__package__ or "") / path).read_text(encoding="utf-8")
