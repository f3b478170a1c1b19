"""The history of a database: what its triggers have noted, and what its tables say at the end."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

_SQL = Path(__file__).with_name("history.sql")
TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED", "EXPIRED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """`was` None: it was sent. `now` None: retention has forgotten it."""

    task: UUID
    name: str = "task"
    was: str | None
    now: str | None
    epoch_before: int = 0
    epoch: int = 0
    attempt_before: int = 0
    attempt: int = 0
    retries: int = 0
    crashes: int = 0
    owner: UUID | None = None
    cancelling: bool = False
    error_code: str | None = None
    clock: Any = None

    @property
    def starts(self) -> bool:
        return self.now == "RUNNING" and self.was != "RUNNING"

    @property
    def ends_a_run(self) -> bool:
        return self.was == "RUNNING" and self.now != "RUNNING"

    @property
    def is_unbegun(self) -> bool:
        """A run that was handed out, and whose first line never ran."""
        return self.ends_a_run and self.attempt < self.attempt_before


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    task: UUID
    epoch: int
    number: int
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the terms of a task allow: so many retries, and whether one may follow a crash."""

    retries: int = 0
    after_crashes: bool = False


@dataclass(frozen=True)
class History:
    transitions: list[Transition] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    beats: list[tuple[UUID, int, UUID]] = field(default_factory=list)
    allowances: Mapping[UUID, Allowance] = field(default_factory=dict)

    @cached_property
    def by_task(self) -> dict[UUID, list[Transition]]:
        ordered = sorted(self.transitions, key=lambda each: each.task.int)  # it is stable
        return {task: list(told) for task, told in groupby(ordered, lambda each: each.task)}

    def attempts_of(self, task: UUID) -> list[Attempt]:
        mine = (attempt for attempt in self.attempts if attempt.task == task)
        return sorted(mine, key=lambda attempt: attempt.epoch)

    def runs_of(self, task: UUID) -> list[Transition]:
        """The ends of all runs that had begun."""
        return [
            each for each in self.by_task.get(task, []) if each.ends_a_run and not each.is_unbegun
        ]


def install(dsn: str) -> None:
    """From now on everything is noted."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_SQL.read_bytes())


def read(dsn: str) -> History:
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
        noted = connection.execute("SELECT * FROM proof_transitions ORDER BY number").fetchall()
        attempts = connection.execute(
            "SELECT task_id AS task, epoch, number, error_code FROM horsies_task_attempts"
        ).fetchall()
        beats = connection.execute("SELECT task, epoch, owner FROM proof_beats").fetchall()
        terms = connection.execute(
            "SELECT id, terms::jsonb -> 'retry' AS retry FROM"
            " (SELECT id, terms FROM horsies_tasks"
            "  UNION ALL SELECT id, terms FROM horsies_task_history) AS all_tasks"
        ).fetchall()
    return History(
        list(_joined(noted)),
        [Attempt(**row) for row in attempts],
        [(row["task"], row["epoch"], row["owner"]) for row in beats],
        {row["id"]: _allowance(row["retry"]) for row in terms},
    )


def _joined(noted: list[dict[str, Any]]) -> Iterator[Transition]:
    """An end is one transition, although it takes a row from one table and puts it in another."""
    leaving: dict[tuple[int, UUID], dict[str, Any]] = {}
    arriving: dict[tuple[int, UUID], dict[str, Any]] = {}
    for row in noted:
        key = (row["transaction"], row["task"])
        if row["place"] == "live" and row["now"] is None:
            leaving[key] = row
        elif row["place"] == "history" and row["was"] is None:
            arriving[key] = row
    for row in noted:
        key = (row["transaction"], row["task"])
        if row is leaving.get(key) and key in arriving:
            continue
        before = leaving.get(key) if row is arriving.get(key) else None
        yield _transition(row, before or row)


def _transition(row: dict[str, Any], before: dict[str, Any]) -> Transition:
    left_out = {"number", "transaction", "place"}
    told = {name: value for name, value in row.items() if name not in left_out}
    return Transition(
        **told
        | {"was": before["was"]}
        | {name: before[name] or 0 for name in ("epoch_before", "attempt_before")}
    )


def _allowance(retry: dict[str, Any] | None) -> Allowance:
    if retry is None:
        return Allowance()
    return Allowance(retries=retry["max"], after_crashes="WORKER_CRASHED" in retry["codes"])
