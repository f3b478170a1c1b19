"""The invariants see what they are for: each law is broken once, by hand."""

from dataclasses import replace
from uuid import UUID

import pytest

from tests.proof import invariants
from tests.proof.history import Allowance, Attempt, History, Transition
from tests.proof.witness import Line

TASK, WORKER, STRANGER = UUID(int=1), UUID(int=2), UUID(int=3)
SENT = Transition(task=TASK, was=None, now="PENDING")
STARTED = Transition(task=TASK, was="PENDING", now="RUNNING", epoch=1, attempt=1, owner=WORKER)
FAILED = Transition(
    task=TASK,
    was="RUNNING",
    now="FAILED",
    epoch_before=1,
    epoch=1,
    attempt_before=1,
    attempt=1,
    owner=WORKER,
    error_code="WORKER_CRASHED",
)
RETRIED = replace(FAILED, now="PENDING", owner=None)
STARTED_AGAIN = replace(STARTED, epoch_before=1, epoch=2, attempt_before=1, attempt=2)
FAILED_AGAIN = replace(FAILED, epoch_before=2, epoch=2, attempt_before=2, attempt=2)
FIRST = Attempt(task=TASK, epoch=1, number=1, error_code="WORKER_CRASHED")
SECOND = Attempt(task=TASK, epoch=2, number=2, error_code="WORKER_CRASHED")
BEGIN = Line("begin", "it", 1, 0.0)

SOUND = History(
    [SENT, STARTED, RETRIED, STARTED_AGAIN, FAILED_AGAIN],
    [FIRST, SECOND],
    [(TASK, 1, WORKER)],
    {TASK: Allowance(retries=1, after_crashes=True)},
)


def test_a_sound_history_holds():
    invariants.hold(SOUND, [BEGIN, replace_word("end"), BEGIN], {"it": TASK})


def replace_word(word: str) -> Line:
    return replace(BEGIN, word=word)


@pytest.mark.parametrize(
    ("law", "history"),
    [
        (invariants.a_task_ends_once, History([SENT, STARTED, FAILED, FAILED])),
        (
            invariants.a_task_ends_once,
            History([SENT, STARTED, FAILED, replace(FAILED, was="FAILED")]),
        ),
        (invariants.states_follow_one_another, History([SENT, FAILED])),
        (invariants.epochs_only_grow, History([SENT, replace(STARTED, epoch=0)])),
        (invariants.epochs_only_grow, History([SENT, STARTED, replace(RETRIED, epoch=2)])),
        (invariants.an_epoch_starts_once, History([SENT, STARTED, RETRIED, STARTED])),
        (invariants.only_owners_speak_for_a_task, replace(SOUND, beats=[(TASK, 1, STRANGER)])),
        (
            invariants.starts_stay_within_what_is_allowed,
            replace(SOUND, allowances={TASK: Allowance(after_crashes=True)}),
        ),
        (
            invariants.only_what_may_crash_runs_again_after_a_crash,
            replace(SOUND, allowances={TASK: Allowance(retries=1)}),
        ),
        (invariants.every_begun_run_is_on_record, replace(SOUND, attempts=[SECOND])),
        (invariants.every_begun_run_is_on_record, replace(SOUND, attempts=[FIRST, FIRST])),
        (
            invariants.every_begun_run_is_on_record,
            replace(SOUND, attempts=[FIRST, replace(SECOND, number=3)]),
        ),
        (
            invariants.the_last_attempt_agrees_with_the_status,
            replace(SOUND, attempts=[FIRST, replace(SECOND, error_code=None)]),
        ),
        (
            invariants.nothing_starts_after_its_cancel,
            History([SENT, replace(SENT, was="PENDING", now="CANCELLED"), STARTED]),
        ),
    ],
)
def test_a_broken_history_is_named(law, history: History):
    with pytest.raises(AssertionError, match=r"I\d: .*task"):
        law(history)


@pytest.mark.parametrize("history", [History([]), History([SENT, SENT]), History([SENT, STARTED])])
def test_a_send_that_is_lost_doubled_or_stuck_is_named(history: History):
    with pytest.raises(AssertionError, match="I1"):
        invariants.acknowledged_sends_exist_once_and_end(history, [TASK])


def test_a_send_that_was_rolled_back_and_is_there_is_named():
    with pytest.raises(AssertionError, match="I1"):
        invariants.rolled_back_sends_leave_nothing(SOUND, [TASK])


@pytest.mark.parametrize(
    ("law", "witnessed", "history"),
    [
        (invariants.every_witnessed_run_is_on_record, [BEGIN] * 3, SOUND),
        (
            invariants.completed_tasks_have_run_to_their_end,
            [BEGIN],
            History([SENT, STARTED, replace(FAILED, now="COMPLETED", error_code=None)]),
        ),
        (
            invariants.runs_of_a_task_do_not_overlap,
            [BEGIN, replace_word("overlap")],
            replace(SOUND, attempts=[]),
        ),
    ],
)
def test_what_the_witness_saw_and_the_history_denies_is_named(law, witnessed, history):
    with pytest.raises(AssertionError, match=r"I[56]"):
        law(history, witnessed, {"it": TASK})
