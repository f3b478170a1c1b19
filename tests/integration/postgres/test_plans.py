"""Hot statements keep to their indexes, whatever the statistics say or do not say."""

from uuid import UUID

import psycopg
import pytest

from tests.integration.postgres.plans import explain
from tests.postgres import kinds, link_to

LARGE = {"horsies_tasks", "horsies_task_history", "horsies_heartbeats"}
IDS = {"ids": "uuid[]"}
CHANGE = {
    "id": "uuid[]",
    "epoch": "int[]",
    "status": "text[]",
    "attempt": "int[]",
    "crashes": "int[]",
    "started_at": "timestamptz[]",
    "cancel_requested_at": "timestamptz[]",
    "error_code": "text[]",
}
TURN_OVER = {
    "ids": "uuid[]",
    "epochs": "int[]",
    "results": "text[]",
    "queues": "text[]",
    "tiers": "int[]",
    "limits": "int[]",
    "mark_priorities": "smallint[]",
    "mark_times": "timestamptz[]",
    "mark_ids": "uuid[]",
    "limit": "bigint",
    "places": "bigint",
    "light": "text[]",
    "excluded": "text[]",
    "passed_over": "uuid[]",
    "worker": "uuid",
    "start": "boolean",
    "now": "timestamptz",
    "channel": "text",
    "announcements": "text[]",
}
HOT = {
    "turn_over": (TURN_OVER, {"horsies_tasks_claim", "horsies_tasks_pkey"}),
    "turn_over_one_queue": (TURN_OVER, {"horsies_tasks_claim", "horsies_tasks_pkey"}),
    "promote": (
        {"queues": "text[]", "now": "timestamptz", "limit": "bigint"},
        {"horsies_tasks_waiting"},
    ),
    "next_due": ({"queues": "text[]"}, {"horsies_tasks_waiting"}),
    "count_waiting": (
        {"queue_name": "text", "enough": "bigint"},
        {"horsies_tasks_claim", "horsies_tasks_waiting"},
    ),
    "in_flight": ({}, {"horsies_tasks_held"}),
    "lock_tasks": (IDS, {"horsies_tasks_pkey"}),
    "note_progress": (
        {"ids": "uuid[]", "epochs": "int[]", "fractions": "float8[]", "notes": "text[]"},
        {"horsies_tasks_pkey"},
    ),
    "find_tasks": (IDS, {"horsies_tasks_pkey", "horsies_task_history_pkey"}),
    "find_ended": (IDS, {"horsies_task_history_pkey"}),
    "known_sends": (IDS, {"horsies_tasks_pkey", "horsies_task_history_pkey"}),
    "ended_copies": (IDS, {"horsies_task_history_pkey"}),
    "newly_ended": (
        IDS | {"channel": "text", "word": "text"},
        {"horsies_task_history_pkey"},
    ),
    "take_back_copies": (IDS, {"horsies_tasks_pkey"}),
    "past_attempts": ({"ids": "uuid[]", "epochs": "int[]"}, {"horsies_past_attempts_pkey"}),
    "attempts": ({"id": "uuid"}, {"horsies_past_attempts_pkey", "horsies_task_history_pkey"}),
    "update_tasks": (
        CHANGE
        | {
            "enqueued_at": "timestamptz[]",
            "claimable": "boolean[]",
            "retries": "int[]",
            "worker_id": "uuid[]",
            "claimed_at": "timestamptz[]",
            "next_retry_at": "timestamptz[]",
            "unresolved_since": "timestamptz[]",
        },
        {"horsies_tasks_pkey"},
    ),
    "end_tasks": (
        CHANGE | {"finished_at": "timestamptz[]", "result": "text[]"},
        {"horsies_tasks_pkey"},
    ),
    "stale_tasks": (
        {
            "status": "text",
            "silent": "timestamptz",
            "lapsed": "timestamptz",
            "limit": "bigint",
        },
        {"horsies_tasks_held", "horsies_heartbeats_task"},
    ),
    "overdue_tasks": ({"now": "timestamptz", "limit": "bigint"}, {"horsies_tasks_deadline"}),
    "unresolved_tasks": (
        {"before": "timestamptz", "limit": "bigint"},
        {"horsies_tasks_unresolved"},
    ),
    "next_lapse": ({"worker": "uuid", "after": "timestamptz"}, {"horsies_tasks_held"}),
    "beat": (
        {
            "worker": "uuid",
            "name": "text",
            "hostname": "text",
            "pid": "int",
            "queues": "text[]",
            "state": "text",
            "started_at": "timestamptz",
            "now": "timestamptz",
            "lease": "interval",
            "current": "uuid[]",
            "ids": "uuid[]",
            "epochs": "int[]",
            "roles": "text[]",
            "caps": "jsonb",
            "running": "int",
            "claimed": "int",
            "places": "int",
            "memory": "bigint",
            "cpu": "real",
            "horsies_version": "text",
            "python_version": "text",
            "schema_version": "int",
            "hears": "boolean",
            "pinged_at": "timestamptz",
        },
        {"horsies_tasks_held"},
    ),
    "purge_tasks": (
        {"now": "timestamptz", "retention": "interval", "limit": "bigint"},
        {"horsies_task_history_purge", "horsies_task_history_finished"},
    ),
    "purge_heartbeats": ({"before": "timestamptz", "limit": "bigint"}, {"horsies_heartbeats_age"}),
    "purge_keys": (
        {"now": "timestamptz", "limit": "bigint"},
        {"horsies_idempotency_keys_expiry"},
    ),
    "find_key": (
        {"task_name": "text", "key": "text", "now": "timestamptz"},
        {"horsies_idempotency_keys_pkey"},
    ),
}
BACKLOG = """
INSERT INTO horsies_tasks
    (id, task_name, queue_name, args, priority, sent_at, enqueued_at, claimable)
SELECT gen_random_uuid(), 'job', 'default', '{}', 50, now(), now() + interval '1 day', false
FROM generate_series(1, 20000);
INSERT INTO horsies_tasks
    (id, task_name, queue_name, args, priority, sent_at, enqueued_at, claimable)
SELECT gen_random_uuid(), 'job', 'q' || n % 4, '{}', 50, now(), now(), true
FROM generate_series(1, 2000) AS n;
INSERT INTO horsies_task_history
    (id, task_name, queue_name, args, priority, sent_at, enqueued_at, status, epoch, attempt,
     retries, crashes, finished_at)
SELECT gen_random_uuid(), 'job', 'default', '{}', 50, now(), now(), 'COMPLETED', 1, 1, 0, 0, now()
FROM generate_series(1, 20000);
INSERT INTO horsies_heartbeats (task_id, epoch, sender_id, role, sent_at, hostname, pid)
SELECT id, 1, 'worker', 'runner', now(), 'stable', 1 FROM horsies_task_history;
ANALYZE;
"""
CLAIMER = {
    "ids": "'{}'",
    "now": "now()",
    "light": "'{}'",
    "excluded": "'{}'",
    "passed_over": "'{}'",
    "worker": "gen_random_uuid()",
    "start": "true",
    "limit": "5",
    "places": "5",
}


def claimer(*shares):
    """Shares as (queue, tier, limit)."""
    queues, tiers, limits = (",".join(map(str, column)) for column in zip(*shares, strict=True))
    numbers = len(shares)
    return CLAIMER | {
        "queues": f"'{{{queues}}}'",
        "tiers": f"'{{{tiers}}}'",
        "limits": f"'{{{limits}}}'",
        "mark_priorities": f"array_fill(-32768, ARRAY[{numbers}])::smallint[]",
        "mark_times": f"array_fill('-infinity'::timestamptz, ARRAY[{numbers}])",
        "mark_ids": f"array_fill('{UUID(int=0)}'::uuid, ARRAY[{numbers}])",
    }


def connected(dsn):
    """As our sessions are."""
    return psycopg.connect(link_to(dsn).conninfo("plans"), autocommit=True)


@pytest.fixture(scope="module", params=kinds())
def empty(request, servers):
    with servers.get(request.param).database() as dsn, connected(dsn) as connection:
        yield connection


@pytest.fixture(scope="module", params=kinds())
def filled(request, servers):
    with servers.get(request.param).database() as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(BACKLOG)
        with connected(dsn) as connection:
            yield connection


@pytest.mark.parametrize("query", HOT)
def test_a_hot_statement_keeps_to_its_indexes_where_nothing_was_ever_analysed(empty, query):
    _expect_indexes(empty, query)


@pytest.mark.parametrize("query", HOT)
def test_a_hot_statement_keeps_to_its_indexes_under_a_backlog(filled, query):
    _expect_indexes(filled, query)


def test_a_claim_does_not_visit_delayed_rows(filled):
    nodes = explain(filled, "turn_over_one_queue", TURN_OVER, claimer(("default", 0, 5)))
    assert sum(node.rows + node.filtered for node in nodes if node.table == "horsies_tasks") == 0


def test_a_promotion_visits_only_what_is_due(filled):
    values = {"queues": "'{default,q0}'", "now": "now()", "limit": "100"}
    nodes = explain(filled, "promote", HOT["promote"][0], values)
    assert sum(node.rows + node.filtered for node in nodes if node.table) == 0


def test_the_next_due_time_costs_one_entry_a_queue(filled):
    nodes = explain(filled, "next_due", HOT["next_due"][0], {"queues": "'{default,q0}'"})
    assert sum(node.rows + node.filtered for node in nodes if node.table) <= 2


def _expect_indexes(connection, query):
    types, indexes = HOT[query]
    nodes = explain(connection, query, types)
    scanned = [n for n in nodes if n.kind == "Seq Scan" and n.table in LARGE]
    assert scanned == []
    assert {node.index for node in nodes} >= indexes


@pytest.mark.parametrize(
    ("query", "shares"),
    [
        ("turn_over_one_queue", [("q1", 0, 5)]),
        ("turn_over", [("q0", 0, 5), ("q1", 0, 5), ("default", 1, 5), ("none", 1, 5)]),
    ],
)
def test_a_claim_visits_what_it_takes_and_no_delayed_rows(filled, query, shares):
    nodes = explain(filled, query, TURN_OVER, claimer(*shares))
    visited = [node for node in nodes if node.table == "horsies_tasks"]
    assert sum(node.filtered for node in visited) == 0
    assert sum(node.rows for node in visited if "Scan" in node.kind) <= 4 * 5 + 5 + 5


def test_signs_of_life_are_found_by_task_though_the_table_was_empty(filled):
    filled.execute("TRUNCATE horsies_heartbeats")
    filled.execute("ANALYZE horsies_heartbeats")
    nodes = explain(filled, "stale_tasks", HOT["stale_tasks"][0])
    assert "horsies_heartbeats_task" in {node.index for node in nodes}
