"""A judgement that is repeated recognises its own earlier write."""

from itertools import product

import pytest

from horsies.domain.outcome import Cancel, Complete, Fail, GiveBack, Reject, RetryAt, Verdict
from horsies.domain.settlement import Settlement, SettleReport, same_ending
from horsies.domain.task import Claim, Task
from horsies.domain.task_lifecycle import TaskStatus
from tests.unit.domain.strategies import BOOM, NOW, TASK_ID, running

CLAIM = Claim(TASK_ID, 1)
ENDINGS: list[Verdict] = [Complete(), Fail(BOOM), Reject(BOOM), Cancel()]


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Complete(), None),
        (Fail(BOOM), BOOM),
        (Reject(BOOM), BOOM),
        (RetryAt(NOW, BOOM), BOOM),
        (RetryAt(NOW, BOOM, free=True), BOOM),
        (GiveBack(NOW), None),
    ],
    ids=repr,
)
def test_a_settlement_knows_the_error_of_the_run(verdict: Verdict, code: str | None):
    assert Settlement(CLAIM, verdict).error_code == code


def ended_by(verdict: Verdict) -> Task:
    return running().settled(verdict, NOW, None)


@pytest.mark.parametrize(("mine", "theirs"), list(product(ENDINGS, ENDINGS)))
def test_an_ended_task_is_ones_own_write_only_if_it_ended_as_judged(mine: Verdict, theirs: Verdict):
    ended = ended_by(theirs)
    same = ended.status in {ended_by(mine).status, TaskStatus.COMPLETED}
    assert same_ending(Settlement(ended.claim, mine), ended) == same


@pytest.mark.parametrize("verdict", [*ENDINGS, RetryAt(NOW, BOOM), GiveBack()], ids=repr)
def test_what_a_run_has_completed_by_itself_is_its_own_write_however_it_went_on(verdict: Verdict):
    completed = ended_by(Complete())
    assert same_ending(Settlement(completed.claim, verdict), completed)


def test_another_error_is_another_ending():
    ended = ended_by(Fail("WORKER_CRASHED"))
    assert not same_ending(Settlement(ended.claim, Fail(BOOM)), ended)


@pytest.mark.parametrize("verdict", ENDINGS)
def test_an_ending_of_another_epoch_is_not_ones_own(verdict: Verdict):
    ended = ended_by(verdict)
    earlier = Claim(ended.id, ended.epoch - 1)
    assert not same_ending(Settlement(earlier, verdict), ended)


@pytest.mark.parametrize(
    ("verdict", "returns"),
    [(RetryAt(NOW, BOOM), True), (GiveBack(), True), *((ending, False) for ending in ENDINGS)],
)
def test_what_goes_back_to_the_queue_always_yields_to_a_cancel(verdict: Verdict, returns: bool):  # noqa: FBT001
    assert Settlement(CLAIM, verdict).yields_to_cancel == returns


def test_an_ending_yields_to_a_cancel_only_if_it_says_so():
    assert Settlement(CLAIM, Fail(BOOM), cancel_prevails=True).yields_to_cancel


def test_a_settlement_is_no_crash_unless_told():
    assert not Settlement(CLAIM, Complete()).crashed


def test_a_report_is_empty_unless_told():
    assert (SettleReport().lost, SettleReport().cancel_requested) == ((), ())
