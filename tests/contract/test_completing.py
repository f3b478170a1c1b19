"""Completing a task from within its run. Where there is a database, on the caller's connection."""

from collections.abc import Callable, Generator

import psycopg
import pytest

from horsies.domain.errors import CompletionError, CompletionRefusal
from horsies.domain.outcome import Cancel, Complete, Fail, GiveBack, RetryAt
from horsies.domain.settlement import Settlement
from horsies.domain.task_lifecycle import TaskStatus

NINE = b'{"ok":9}'
ERR = b'{"err":{"error_code":"BOOM"}}'


@pytest.fixture
def complete(world) -> Generator[Callable[..., None]]:
    """In a transaction that commits at once."""
    if world.dsn is None:
        yield lambda task, result=NINE: world.completer.complete(task.claim, result, object())
        return
    with psycopg.connect(world.dsn, autocommit=True) as connection:
        yield lambda task, result=NINE: world.completer.complete(task.claim, result, connection)


async def refusal(complete, task) -> CompletionRefusal:
    with pytest.raises(CompletionError) as caught:
        complete(task)
    return caught.value.refusal


async def test_a_run_completes_its_task(world, complete):
    task_id = world.send()
    running = await world.claim_one()
    world.pass_time(seconds=2)
    complete(running)
    ended = await world.find(task_id)
    assert (ended.status, ended.result, ended.error_code) == (TaskStatus.COMPLETED, NINE, None)
    assert (ended.finished_at, ended.epoch, ended.attempt) == (world.now(), 1, 1)
    assert await world.claim() == []


@pytest.mark.parametrize(
    "verdict",
    [Complete(), Fail("BOOM"), Fail("WORKER_CRASHED"), Cancel(), GiveBack()],
    ids=repr,
)
async def test_whatever_becomes_of_a_run_afterwards_its_completion_stands(world, complete, verdict):
    task_id = world.send()
    running = await world.claim_one()
    complete(running)
    report = await world.settle(running, verdict, ERR)
    assert (list(report.lost), list(report.repeated)) == ([], [running.claim])
    ended = await world.find(task_id)
    assert (ended.status, ended.result) == (TaskStatus.COMPLETED, NINE)


async def test_a_completed_run_is_not_retried(world, complete):
    world.send()
    running = await world.claim_one()
    complete(running)
    report = await world.settle(running, RetryAt(world.now(), "BOOM"), ERR, crashed=True)
    assert list(report.repeated) == [running.claim]
    assert await world.claim() == []


async def test_what_was_completed_does_not_hold_up_the_rest_of_its_batch(world, complete):
    world.send()
    world.send()
    first, second = await world.claim()
    complete(first)
    async with world.unit_of_work() as tx:
        report = await tx.tasks.settle(
            [Settlement(task.claim, Complete(), b"1") for task in (first, second)]
        )
    assert list(report.repeated) == [first.claim]
    assert (await world.find(second.id)).result == b"1"


async def test_a_zombie_cannot_complete_what_was_given_to_another(world, complete):
    world.send()
    zombie = await world.claim_one()
    await world.settle(zombie, GiveBack(world.now()), None)
    heir = await world.claim_one(worker=world.new_worker())
    assert await refusal(complete, zombie) is CompletionRefusal.LOST
    assert await world.find(heir.id) == heir


async def test_a_task_that_has_failed_cannot_be_completed(world, complete):
    world.send()
    running = await world.claim_one()
    await world.settle(running, Fail("BOOM"), ERR)
    assert await refusal(complete, running) is CompletionRefusal.LOST


async def test_a_run_completes_its_task_once(world, complete):
    world.send()
    running = await world.claim_one()
    complete(running)
    assert await refusal(complete, running) is CompletionRefusal.REPEATED


async def test_a_completion_stands_against_a_cancel_that_was_asked_for(world, complete):
    task_id = world.send()
    running = await world.claim_one()
    async with world.unit_of_work() as tx:
        await tx.tasks.cancel([task_id])
    complete(running)
    assert (await world.find(task_id)).status is TaskStatus.COMPLETED
