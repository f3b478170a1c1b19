"""Tables of Horsies that have grown: rows multiplied out of one, whatever their columns are."""

from typing import LiteralString

from benchmarks.harness.programs import Programs
from benchmarks.harness.stage import Stage

MULTIPLY: LiteralString = """
INSERT INTO {table}
SELECT made.* FROM (SELECT whole FROM {table} AS whole LIMIT 1) AS picked,
    generate_series(1, %(rows)s) AS number,
    LATERAL jsonb_populate_record(whole, jsonb_build_object(
        'id', CASE WHEN number > 0 THEN horsies_uuid7() END,  -- anew for each number
        'task_name', 'filler', {changes})) AS made
"""
ENDED: LiteralString = MULTIPLY.replace("{table}", "horsies_task_history").replace(
    "{changes}", "'status', 'COMPLETED'"
)
LATER: LiteralString = MULTIPLY.replace("{table}", "horsies_tasks").replace(
    "{changes}",
    "'claimable', false, 'enqueued_at', now() + interval '1 day' + number * interval '1 ms'",
)


def add_history(stage: Stage, programs: Programs, rows: int) -> None:
    programs.run("fill", "noop", 1)
    programs.drain(30)
    _multiply(stage, programs, ENDED, rows)
    with stage.onlooker(programs.database) as connection:
        connection.execute("DELETE FROM horsies_task_history WHERE task_name <> 'filler'")


def add_scheduled(stage: Stage, programs: Programs, rows: int) -> None:
    programs.run("fill", "noop", 1)
    _multiply(stage, programs, LATER, rows)


def _multiply(stage: Stage, programs: Programs, statement: LiteralString, rows: int) -> None:
    with stage.onlooker(programs.database) as connection:
        connection.execute(statement, {"rows": rows})
