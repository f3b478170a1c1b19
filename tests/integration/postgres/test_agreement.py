"""The database and the code say the same: names, states, columns, and what can never be."""

import re
from importlib.resources import files

import psycopg
import pytest

import horsies.adapters.postgres
from horsies.adapters.postgres.queries import ENDED_COLUMNS, HISTORY_COLUMNS, LIVE_COLUMNS
from horsies.domain.task_lifecycle import TERMINAL, TaskStatus
from horsies.domain.worker import HeartbeatRole, WorkerState

PACKAGE = files(horsies.adapters.postgres)
STATEMENTS = sorted(each.name for each in (PACKAGE / "sql").glob("*.sql"))

LIVE_ROW = {
    "id": "'00000000-0000-7000-8000-000000000001'",
    "task_name": "'job'",
    "queue_name": "'default'",
    "args": "'{}'",
    "sent_at": "now()",
    "enqueued_at": "now()",
    "claimable": "false",
}
PENDING = LIVE_ROW | {"status": "'PENDING'"}
CLAIMED = LIVE_ROW | {
    "status": "'CLAIMED'",
    "epoch": "1",
    "worker_id": "gen_random_uuid()",
    "claimed_at": "now()",
}
RUNNING = CLAIMED | {"status": "'RUNNING'", "attempt": "1", "started_at": "now()"}
ENDED_ROW = {name: value for name, value in LIVE_ROW.items() if name != "claimable"} | {
    "priority": "50",
    "epoch": "1",
    "attempt": "1",
    "retries": "0",
    "crashes": "0",
    "finished_at": "now()",
}
COMPLETED = ENDED_ROW | {"status": "'COMPLETED'"}
FAILED = ENDED_ROW | {"status": "'FAILED'", "error_code": "'BOOM'"}


@pytest.mark.parametrize(
    ("constraint", "members"),
    [
        ("horsies_tasks_status", set(TaskStatus) - TERMINAL),
        ("horsies_task_history_status", TERMINAL),
        ("horsies_workers_state", set(WorkerState)),
        ("horsies_heartbeats_role", set(HeartbeatRole)),
    ],
)
def test_a_check_lists_the_members_of_its_enum(onlooker, constraint, members):
    (definition,) = onlooker.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [constraint]
    ).fetchone()
    assert set(re.findall(r"'(\w+)'", definition)) == {str(member) for member in members}


PROGRESS = ("progress", "progress_note", "progress_epoch")


@pytest.mark.parametrize(
    ("table", "columns", "unread"),
    [
        (
            "horsies_tasks",
            LIVE_COLUMNS,
            {"unique_key", "concurrency_key", "fairness_key", "workflow_id", *PROGRESS},
        ),
        (
            "horsies_task_history",
            ENDED_COLUMNS,
            {"unique_key", "concurrency_key", "fairness_key", "workflow_id", "purge_at"},
        ),
        ("horsies_task_history", HISTORY_COLUMNS, set()),
    ],
)
def test_the_columns_in_the_code_are_those_of_the_table(onlooker, table, columns, unread):
    in_code = [each for each in re.split(r", ", columns) if " AS " not in each and each != "false"]
    in_table = _columns_of(onlooker, table)
    assert sorted([*in_code, *unread]) == sorted(in_table)


def test_a_row_of_history_is_inserted_in_the_order_of_the_table(onlooker):
    assert HISTORY_COLUMNS.split(", ") == _columns_of(onlooker, "horsies_task_history")


def test_what_history_shares_with_the_live_table_has_the_same_type(onlooker):
    rows = onlooker.execute(
        "SELECT live.column_name FROM information_schema.columns AS live"
        " JOIN information_schema.columns AS ended USING (table_schema, column_name)"
        " WHERE live.table_name = 'horsies_tasks' AND ended.table_name = 'horsies_task_history'"
        " AND live.udt_name <> ended.udt_name"
    ).fetchall()
    assert rows == []


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_begins_by_saying_what_it_is_for(name):
    assert re.match(r"-- [A-Z].+\.\n", (PACKAGE / "sql" / name).read_text())


@pytest.mark.parametrize("row", [PENDING, CLAIMED, RUNNING])
def test_the_live_table_takes_what_the_domain_builds(onlooker, row):
    _insert(onlooker, "horsies_tasks", row)


@pytest.mark.parametrize("row", [COMPLETED, FAILED])
def test_the_history_takes_what_the_domain_builds(onlooker, row):
    _insert(onlooker, "horsies_task_history", row)


@pytest.mark.parametrize(
    "row",
    [
        PENDING | {"status": "'COMPLETED'"},
        PENDING | {"status": "'pending'"},
        PENDING | {"priority": "0"},
        PENDING | {"priority": "101"},
        PENDING | {"task_name": "''"},
        PENDING | {"queue_name": "''"},
        PENDING | {"epoch": "-1"},
        PENDING | {"worker_id": "gen_random_uuid()"},
        PENDING | {"claimed_at": "now()"},
        PENDING | {"started_at": "now()"},
        PENDING | {"attempt": "1"},
        PENDING | {"epoch": "1", "attempt": "1", "retries": "2"},
        PENDING | {"epoch": "1", "attempt": "1", "crashes": "2"},
        CLAIMED | {"claimable": "true"},
        CLAIMED | {"worker_id": "NULL"},
        CLAIMED | {"claimed_at": "NULL"},
        CLAIMED | {"epoch": "0"},
        CLAIMED | {"started_at": "now()"},
        RUNNING | {"claimable": "true"},
        RUNNING | {"worker_id": "NULL"},
        RUNNING | {"claimed_at": "NULL"},
        RUNNING | {"started_at": "NULL"},
        RUNNING | {"attempt": "0"},
    ],
)
def test_the_live_table_refuses_what_the_domain_could_never_build(onlooker, row):
    with pytest.raises(psycopg.errors.CheckViolation):
        _insert(onlooker, "horsies_tasks", row)


@pytest.mark.parametrize(
    "row",
    [
        COMPLETED | {"error_code": "'BOOM'"},
        FAILED | {"error_code": "NULL"},
        FAILED | {"status": "'CANCELLED'", "error_code": "NULL"},
        FAILED | {"status": "'EXPIRED'", "error_code": "NULL"},
        FAILED | {"status": "'RUNNING'"},
        FAILED | {"attempt": "2"},
    ],
)
def test_the_history_refuses_what_the_domain_could_never_build(onlooker, row):
    with pytest.raises(psycopg.errors.CheckViolation):
        _insert(onlooker, "horsies_task_history", row)


def _columns_of(onlooker, table):
    rows = onlooker.execute(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name = %s ORDER BY ordinal_position",
        [table],
    )
    return [name for (name,) in rows]


def _insert(onlooker, table, row):
    names, values = ", ".join(row), ", ".join(row.values())
    onlooker.execute(f"INSERT INTO {table} ({names}) VALUES ({values})".encode())
