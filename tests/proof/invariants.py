"""What must never break, each law a function that names the violation it finds.

They read the history of transitions and the witness file, never the final state alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from uuid import UUID

import psycopg

from tests.proof.history import TERMINAL, Allowance, History
from tests.proof.witness import Line

_NO_ALLOWANCE = Allowance()
_UNKNOWN_ENDS = {"WORKER_CRASHED", "TASK_QUARANTINED"}


def acknowledged_sends_exist_once_and_end(history: History, sent: Collection[UUID]) -> None:
    """I1: after a drain."""
    for task in sent:
        told = history.by_task.get(task, [])
        births = sum(each.was is None and each.now == "PENDING" for each in told)
        assert births <= 1, f"I1: task {task} was sent once and inserted {births} times"
        assert told, f"I1: task {task} was acknowledged and is lost"
        assert told[-1].now in {*TERMINAL, None}, f"I1: task {task} is still {told[-1].now}"


def rolled_back_sends_leave_nothing(history: History, undone: Collection[UUID]) -> None:
    """I1."""
    found = set(undone) & set(history.by_task)
    assert not found, f"I1: sends that were rolled back exist: {found}"


def a_task_ends_once(history: History) -> None:
    """I2: and then it does not change any more."""
    for task, told in history.by_task.items():
        ends = [each for each in told if each.now in TERMINAL and each.was not in TERMINAL]
        assert len(ends) <= 1, f"I2: task {task} ended as {[each.now for each in ends]}"
        for before, after in pairwise(told):
            if before.now in TERMINAL:
                assert after.now is None, f"I2: task {task} was {before.now}, then {after.now}"


def states_follow_one_another(history: History) -> None:
    """I2: each transition begins where the one before it has ended."""
    for task, told in history.by_task.items():
        for before, after in pairwise(told):
            assert after.was == before.now, (
                f"I2: task {task} was left {before.now} and then found {after.was}"
            )


def epochs_only_grow(history: History) -> None:
    """I3: by one with each claim, and by nothing else."""
    for task, told in history.by_task.items():
        for each in told:
            grown = each.epoch - each.epoch_before
            claimed = each.was == "PENDING" and each.now in {"CLAIMED", "RUNNING"}
            assert grown == claimed, (
                f"I3: {each.was} → {each.now} moved the epoch of task {task} by {grown}"
            )
        for before, after in pairwise(told):
            assert after.epoch_before == before.epoch, (
                f"I3: task {task} had epoch {before.epoch}, then {after.epoch_before}"
            )


def an_epoch_starts_once(history: History) -> None:
    """I3."""
    starts = Counter((each.task, each.epoch) for each in history.transitions if each.starts)
    for (task, epoch), times in starts.items():
        assert times == 1, f"I3: task {task} started {times} times in epoch {epoch}"


def only_owners_speak_for_a_task(history: History) -> None:
    """I3: a heartbeat carries an epoch that its sender has held."""
    held = {(each.task, each.epoch, each.owner) for each in history.transitions if each.owner}
    for beat in history.beats:
        assert beat in held, f"I3: worker {beat[2]} spoke for task {beat[0]}, epoch {beat[1]}"


def starts_stay_within_what_is_allowed(history: History) -> None:
    """I4: one, the retries of its terms, and those that a shutdown gives for free."""
    for task in history.by_task:
        runs = history.runs_of(task)
        allowance = history.allowances.get(task, _NO_ALLOWANCE)
        codes = [attempt.error_code for attempt in history.attempts_of(task)]
        allowed = 1 + allowance.retries + codes[:-1].count("WORKER_SHUTDOWN")
        assert len(runs) <= allowed, f"I4: task {task} ran {len(runs)} times, {allowed} allowed"


def only_what_may_crash_runs_again_after_a_crash(history: History) -> None:
    """I4: after an unknown outcome, only where the policy lists it."""
    for task in history.by_task:
        if history.allowances.get(task, _NO_ALLOWANCE).after_crashes:
            continue
        earlier = history.attempts_of(task)[:-1]
        unknown = [attempt for attempt in earlier if attempt.error_code in _UNKNOWN_ENDS]
        assert not unknown, f"I4: task {task} ran again after a crash, and must not"


def every_begun_run_is_on_record(history: History) -> None:
    """I5: once, numbered without gaps."""
    for task, told in history.by_task.items():
        if told[-1].now not in TERMINAL:
            continue
        runs = {each.epoch for each in history.runs_of(task)}
        attempts = history.attempts_of(task)
        epochs = [attempt.epoch for attempt in attempts]
        assert len(epochs) == len(set(epochs)), f"I5: task {task} has two attempts in one epoch"
        assert set(epochs) == runs, f"I5: task {task} ran in {runs}, on record are {epochs}"
        numbers = [attempt.number for attempt in attempts]
        assert numbers == list(range(1, len(numbers) + 1)), f"I5: task {task} counts {numbers}"


def the_last_attempt_agrees_with_the_status(history: History) -> None:
    """I5."""
    for task, told in history.by_task.items():
        attempts = history.attempts_of(task)
        if not attempts or told[-1].now not in TERMINAL or told[-1].was != "RUNNING":
            continue
        succeeded = attempts[-1].error_code is None
        assert succeeded == (told[-1].now == "COMPLETED"), (
            f"I5: task {task} is {told[-1].now}, its last attempt {attempts[-1].error_code}"
        )


def every_witnessed_run_is_on_record(
    history: History, witnessed: Iterable[Line], tasks: dict[str, UUID]
) -> None:
    """I5: nothing runs that the database does not know of; `tasks` are those of the names."""
    begun = Counter(line.task for line in witnessed if line.word == "begin")
    for name, task in tasks.items():
        known = len(history.attempts_of(task))
        assert begun[name] <= known, f"I5: task {task} began {begun[name]} times, known are {known}"


def completed_tasks_have_run_to_their_end(
    history: History, witnessed: Iterable[Line], tasks: dict[str, UUID]
) -> None:
    """I5: what is COMPLETED was seen to end."""
    ended = {line.task for line in witnessed if line.word == "end"}
    for name, task in tasks.items():
        if history.by_task[task][-1].now == "COMPLETED":
            assert name in ended, f"I5: task {task} is COMPLETED and was never seen to end"


def runs_of_a_task_do_not_overlap(
    history: History, witnessed: Iterable[Line], tasks: dict[str, UUID]
) -> None:
    """I6: except after its owner has lost it, which is on record as a crash."""
    for line in witnessed:
        if line.word != "overlap" or line.task not in tasks:
            continue
        codes = {attempt.error_code for attempt in history.attempts_of(tasks[line.task])}
        assert codes & _UNKNOWN_ENDS, f"I6: two runs of task {tasks[line.task]} overlapped"


def nothing_starts_after_its_cancel(history: History) -> None:
    """I9."""
    for task, told in history.by_task.items():
        for before, after in pairwise(told):
            stopped = before.cancelling or before.now == "CANCELLED"
            assert not (stopped and after.starts), f"I9: task {task} started after its cancel"


def nothing_leaks(dsn: str, processes: Iterable[int], is_alive: Callable[[int], bool]) -> None:
    """I12: when all workers have ended. `processes` are all that have ever been seen."""
    alive = sorted(pid for pid in set(processes) if is_alive(pid))
    assert not alive, f"I12: processes are left behind: {alive}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        sessions = connection.execute(
            "SELECT application_name, state FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            "   AND application_name ~ '^horsies (engine|ear)'"
        ).fetchall()
        assert not sessions, f"I12: connections are left behind: {sessions}"
        locks = connection.execute(
            "SELECT locktype, mode FROM pg_locks WHERE pid <> pg_backend_pid()"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND locktype IN ('advisory', 'tuple')"
        ).fetchall()
        assert not locks, f"I12: locks are left behind: {locks}"


def nobody_idles_in_a_transaction(dsn: str, seconds: float = 5.0) -> None:
    """I12: at any moment."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        idle = connection.execute(
            "SELECT application_name, query FROM pg_stat_activity"
            " WHERE datname = current_database() AND state ~ '^idle in transaction'"
            "   AND clock_timestamp() - state_change > make_interval(secs => %s)",
            [seconds],
        ).fetchall()
    assert not idle, f"I12: transactions are left open: {idle}"


OF_HISTORY: tuple[Callable[[History], None], ...] = (
    a_task_ends_once,
    states_follow_one_another,
    epochs_only_grow,
    an_epoch_starts_once,
    only_owners_speak_for_a_task,
    starts_stay_within_what_is_allowed,
    only_what_may_crash_runs_again_after_a_crash,
    every_begun_run_is_on_record,
    the_last_attempt_agrees_with_the_status,
    nothing_starts_after_its_cancel,
)


def hold(history: History, witnessed: list[Line], tasks: dict[str, UUID]) -> None:
    """All of them, after a drain; `tasks` are the acknowledged sends by their witnessed names."""
    acknowledged_sends_exist_once_and_end(history, tasks.values())
    for invariant in OF_HISTORY:
        invariant(history)
    every_witnessed_run_is_on_record(history, witnessed, tasks)
    completed_tasks_have_run_to_their_end(history, witnessed, tasks)
    runs_of_a_task_do_not_overlap(history, witnessed, tasks)
