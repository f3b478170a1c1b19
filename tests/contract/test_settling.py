"""Settling: one terminal write per life, fenced by the epoch, recognised when repeated."""

from datetime import timedelta

import pytest

from horsies.domain.cancellation import CancelAnswer
from horsies.domain.outcome import Cancel, Complete, Fail, GiveBack, Reject, RetryAt
from horsies.domain.queue import ClaimOrder, Share
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus

ERR = b'{"err":{"error_code":"BOOM"}}'


@pytest.mark.parametrize(
    ("verdict", "status", "code"),
    [
        (Complete(), TaskStatus.COMPLETED, None),
        (Fail("BOOM"), TaskStatus.FAILED, "BOOM"),
        (Cancel(), TaskStatus.CANCELLED, "TASK_CANCELLED"),
        (Reject("WORKER_RESOLUTION_ERROR"), TaskStatus.FAILED, "WORKER_RESOLUTION_ERROR"),
    ],
)
async def test_a_verdict_ends_the_task(world, verdict, status, code):
    task_id = world.send()
    running = await world.claim_one()
    world.pass_time(seconds=3)
    assert not (await world.settle(running, verdict)).lost
    ended = await world.find(task_id)
    assert (ended.status, ended.error_code) == (status, code)
    assert ended.finished_at == world.now()
    assert await world.claim() == []


async def test_a_completed_task_keeps_its_result(world):
    task_id = world.send()
    await world.settle(await world.claim_one(), Complete(), b'{"ok":[1,2]}')
    assert (await world.find(task_id)).result == b'{"ok":[1,2]}'


async def test_a_retry_waits_for_its_time_and_keeps_the_attempt_on_record(world):
    task_id = world.send()
    first = await world.claim_one()
    at = world.now() + timedelta(seconds=30)
    await world.settle(first, RetryAt(at, "BOOM"), ERR)
    waiting = await world.find(task_id)
    assert (waiting.status, waiting.retries, waiting.attempt) == (TaskStatus.PENDING, 1, 1)
    assert (waiting.next_retry_at, waiting.enqueued_at, waiting.worker) == (at, at, None)
    assert await world.claim() == []
    world.pass_time(seconds=30)
    await world.promote()
    again = await world.claim_one()
    assert (again.epoch, again.attempt, again.next_retry_at) == (2, 2, None)
    async with world.unit_of_work() as tx:
        (attempt,) = await tx.archive.attempts(task_id)
    assert (attempt.number, attempt.epoch) == (1, 1)
    assert (attempt.error_code, attempt.result) == ("BOOM", ERR)


async def test_a_retry_that_is_due_at_once_can_be_claimed_at_once(world):
    world.send()
    await world.settle(await world.claim_one(), RetryAt(world.now(), "WORKER_SHUTDOWN", free=True))
    again = await world.claim_one()
    assert (again.retries, again.attempt) == (0, 2)


async def test_attempts_are_numbered_without_gaps_and_end_with_the_task(world):
    task_id = world.send()
    for _ in range(2):
        await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"), ERR)
    await world.settle(await world.claim_one(), Complete())
    async with world.unit_of_work() as tx:
        attempts = await tx.archive.attempts(task_id)
    assert [(a.number, a.epoch, a.error_code) for a in attempts] == [
        (1, 1, "BOOM"),
        (2, 2, "BOOM"),
        (3, 3, None),
    ]


async def test_a_task_given_back_unbegun_has_no_attempt(world):
    task_id = world.send()
    await world.settle(await world.claim_one(), GiveBack(world.now()), None)
    task = await world.find(task_id)
    assert (task.status, task.attempt, task.epoch) == (TaskStatus.PENDING, 0, 1)
    async with world.unit_of_work() as tx:
        assert await tx.archive.attempts(task_id) == []


async def test_a_task_given_back_unbegun_keeps_its_place(world):
    first = world.send()
    world.pass_time(seconds=1)
    second = world.send()
    await world.settle(await world.claim_one(), GiveBack(), None)
    assert [task.id for task in await world.claim()] == [first, second]


async def test_an_unresolved_task_remembers_since_when_and_why(world):
    task_id = world.send()
    since = world.now()
    for _ in range(2):
        at = world.now() + timedelta(seconds=5)
        verdict = GiveBack(at, unresolved="ARGUMENT_MISMATCH")
        await world.settle(await world.claim_one(), verdict, None)
        world.pass_time(seconds=5)
        await world.promote()
    task = await world.find(task_id)
    assert (task.unresolved_since, task.error_code) == (since, "ARGUMENT_MISMATCH")


async def test_a_run_that_began_ends_the_grace_of_an_unresolved_task(world):
    task_id = world.send()
    await world.settle(await world.claim_one(), GiveBack(world.now(), unresolved="X"), None)
    await world.settle(await world.claim_one(), RetryAt(world.now(), "BOOM"), ERR)
    assert (await world.find(task_id)).unresolved_since is None


async def test_a_crash_is_counted_on_the_task(world):
    task_id = world.send()
    await world.settle(
        await world.claim_one(), RetryAt(world.now(), "WORKER_CRASHED"), ERR, crashed=True
    )
    assert (await world.find(task_id)).crashes == 1


async def test_a_zombie_cannot_settle_a_task_that_was_given_to_another(world):
    task_id = world.send()
    zombie = await world.claim_one()
    await world.settle(zombie, RetryAt(world.now(), "WORKER_CRASHED"), ERR, crashed=True)
    heir = await world.claim_one(worker=world.new_worker())
    report = await world.settle(zombie, Complete())
    assert list(report.lost) == [zombie.claim]
    assert await world.find(task_id) == heir


async def test_a_zombie_cannot_settle_a_task_that_came_back_to_itself(world):
    world.send()
    first = await world.claim_one()
    await world.settle(first, GiveBack(world.now()), None)
    second = await world.claim_one()
    assert list((await world.settle(first, Complete())).lost) == [first.claim]
    assert not (await world.settle(second, Complete())).lost


async def test_a_claimed_task_cannot_be_completed_before_it_started(world):
    world.send()
    claimed = await world.claim_one(start=False)
    assert list((await world.settle(claimed)).lost) == [claimed.claim]


@pytest.mark.parametrize(
    "verdict", [Complete(), Fail("BOOM"), Cancel(), Reject("ARGUMENT_MISMATCH")]
)
async def test_a_repeated_terminal_settle_is_recognised_as_its_own(world, verdict):
    task_id = world.send()
    running = await world.claim_one()
    await world.settle(running, verdict, b"1")
    before = await world.find(task_id)
    report = await world.settle(running, verdict, b"2")
    assert (list(report.lost), list(report.repeated)) == ([], [running.claim])
    assert await world.find(task_id) == before


async def test_a_first_write_is_no_repetition(world):
    world.send()
    assert not (await world.settle(await world.claim_one())).repeated


async def test_what_a_cancel_ended_is_recognised_when_the_run_is_reported_again(world):
    task_id = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task_id])
    await world.settle(running, Cancel(), None)
    report = await world.settle(running, Fail("WORKER_CRASHED"), ERR, cancel_prevails=True)
    assert (list(report.lost), list(report.repeated)) == ([], [running.claim])


async def test_a_repeated_retry_is_recognised_and_not_repeated(world):
    task_id = world.send()
    running = await world.claim_one()
    verdict = RetryAt(world.now() + timedelta(seconds=9), "BOOM")
    await world.settle(running, verdict, ERR)
    assert not (await world.settle(running, verdict, ERR)).lost
    assert (await world.find(task_id)).retries == 1


async def test_a_repeated_give_back_is_recognised(world):
    world.send()
    running = await world.claim_one()
    await world.settle(running, GiveBack(world.now()), None)
    assert not (await world.settle(running, GiveBack(world.now()), None)).lost


async def test_a_cancel_of_what_never_began_leaves_no_attempt(world):
    task_id = world.send()
    await world.settle(await world.claim_one(), Cancel(begun=False), None)
    async with world.unit_of_work() as tx:
        assert await tx.archive.attempts(task_id) == []
    assert (await world.find(task_id)).attempt == 0


async def test_a_zombie_s_error_is_not_taken_for_the_reaper_s(world):
    world.send()
    zombie = await world.claim_one()
    await world.settle(zombie, Fail("WORKER_CRASHED"), ERR, crashed=True)
    assert list((await world.settle(zombie, Fail("BOOM"), ERR)).lost) == [zombie.claim]


async def test_the_first_terminal_write_wins(world):
    task_id = world.send()
    running = await world.claim_one()
    await world.settle(running, Fail("WORKER_CRASHED"), ERR)
    assert list((await world.settle(running, Complete())).lost) == [running.claim]
    assert (await world.find(task_id)).status is TaskStatus.FAILED


async def test_one_lost_claim_does_not_hold_up_the_others(world):
    world.send()
    world.send()
    lost, kept = await world.claim()
    await world.settle(lost, Fail("BOOM"), ERR)
    async with world.unit_of_work() as tx:
        report = await tx.tasks.settle(
            [Settlement(lost.claim, Fail("X"), b"1"), Settlement(kept.claim, Complete(), b"2")]
        )
    assert list(report.lost) == [lost.claim]
    assert (await world.find(kept.id)).status is TaskStatus.COMPLETED


@pytest.mark.parametrize("kind", ["retry", "give back"])
async def test_a_return_to_the_queue_is_refused_once_a_cancel_was_requested(world, kind):
    task_id = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        assert await tx.tasks.cancel([task_id]) == {task_id: CancelAnswer.REQUESTED}
    verdict = RetryAt(world.now(), "BOOM") if kind == "retry" else GiveBack()
    report = await world.settle(running, verdict, ERR)
    assert (list(report.lost), list(report.cancel_requested)) == ([], [running.claim])
    assert (await world.find(task_id)).status is TaskStatus.RUNNING


async def test_an_ending_that_yields_to_a_cancel_is_judged_again(world):
    task_id = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task_id])
    report = await world.settle(running, Fail("WORKER_CRASHED"), ERR, cancel_prevails=True)
    assert (list(report.lost), list(report.cancel_requested)) == ([], [running.claim])
    assert not (await world.settle(running, Cancel(), None)).lost
    assert (await world.find(task_id)).status is TaskStatus.CANCELLED


async def test_an_error_that_the_task_returned_stands_after_a_request(world):
    task_id = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task_id])
    await world.settle(running, Fail("BOOM"), ERR)
    assert (await world.find(task_id)).error_code == "BOOM"


async def test_settle_and_claim_can_share_one_transaction(world):
    world.send()
    second = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.settle([Settlement(running.claim, Complete(), b"1")])
        order = ClaimOrder(world.worker, 1, ((Share("default", 1),),), start=True)
        (claimed,) = await tx.tasks.claim(order)
    assert claimed.id == second
