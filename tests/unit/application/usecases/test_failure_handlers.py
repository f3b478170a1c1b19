"""`on_failure`: sent in the transaction of the FAILED write, once, and for nothing else."""

import pytest

from horsies.application.ports.executor import RunReport
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.ids import failure_handler_id
from horsies.domain.outcome import (
    Crashed,
    Errored,
    GiveBack,
    Interrupted,
    ShutDown,
    Succeeded,
    Unbegun,
    Unresolved,
)
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import FailureHandler, Terms
from horsies.domain.task_lifecycle import TaskStatus

UNKNOWN = OperationalErrorCode.WORKER_RESOLUTION_ERROR
HANDLER = FailureHandler(name="clean_up", queue="default", priority=7)
WATCHED = Terms(on_failure=HANDLER)


async def handlers(bench):
    claimed = await bench.claim(start=False)
    async with bench.unit_of_work() as tx:
        await tx.tasks.release([task.claim for task in claimed])
    return [task for task in claimed if task.name == "clean_up"]


@pytest.mark.parametrize("outcome", [Errored("BOOM"), Crashed(), ShutDown()], ids=str)
async def test_every_way_to_fail_sends_the_handler(bench, outcome):
    bench.send(terms=WATCHED)
    await bench.run_once(outcome)
    assert await bench.pending_names() == ["clean_up"]


async def test_a_quarantined_task_sends_its_handler(bench):
    crash_proof = RetryPolicy.fixed([1] * 9, auto_retry_for=["WORKER_CRASHED"])
    bench.send(terms=Terms(retry=crash_proof, on_failure=HANDLER))
    for _ in range(3):
        assert await handlers(bench) == []
        await bench.run_once(Crashed())
        bench.pass_time(seconds=1)
    assert len(await handlers(bench)) == 1


async def test_a_rejected_task_sends_its_handler(bench):
    bench.send(terms=WATCHED)
    await bench.run_once(Unresolved(UNKNOWN))
    bench.pass_time(minutes=5)
    await bench.run_once(Unresolved(UNKNOWN))
    assert await bench.pending_names() == ["clean_up"]


@pytest.mark.parametrize("outcome", [Succeeded(), Interrupted(), Unbegun()], ids=str)
async def test_what_does_not_fail_sends_none(bench, outcome):
    bench.send(terms=WATCHED)
    await bench.run_once(outcome)
    assert await handlers(bench) == []


async def test_a_retry_sends_none_yet(bench):
    again = RetryPolicy.fixed([9], auto_retry_for=["BOOM"])
    bench.send(terms=Terms(retry=again, on_failure=HANDLER))
    await bench.run_once(Errored("BOOM"), bench.failed())
    assert await handlers(bench) == []


async def test_a_cancelled_task_sends_none(bench):
    bench.send(terms=WATCHED)
    await bench.cancel(await bench.claim_one(start=False))
    assert await handlers(bench) == []


async def test_an_expired_task_sends_none(bench):
    bench.send(terms=WATCHED, good_until=bench.now())
    assert await bench.reap.expire() == 1
    assert await handlers(bench) == []


async def test_a_cancel_that_turns_a_retry_into_a_failure_sends_the_handler(bench):
    again = RetryPolicy.fixed([9], auto_retry_for=["BOOM"])
    bench.send(terms=Terms(retry=again, on_failure=HANDLER))
    task = await bench.claim_one()
    await bench.cancel(task)
    await bench.report(task, Errored("BOOM"), bench.failed())
    assert len(await handlers(bench)) == 1


async def test_a_cancel_that_ends_a_crashed_run_sends_none(bench):
    bench.send(terms=WATCHED)
    task = await bench.claim_one()
    await bench.cancel(task)
    await bench.report(task, Crashed())
    assert await handlers(bench) == []


async def test_a_lost_claim_sends_none(bench):
    bench.send(terms=WATCHED)
    zombie = await bench.claim_one()
    await bench.settle(zombie, GiveBack(), None)
    await bench.claim_one(worker=bench.new_worker())
    assert await bench.report(zombie, Errored("BOOM"), bench.failed()) == {zombie.claim}
    assert await handlers(bench) == []


async def test_a_zombie_sends_no_second_handler_after_the_reaper(bench):
    bench.send(terms=WATCHED)
    zombie = await bench.claim_one()
    await bench.report(zombie, Crashed())
    await bench.report(zombie, Errored("BOOM"), bench.failed())
    (handler,) = await handlers(bench)
    assert b"WORKER_CRASHED" in handler.payload


async def test_the_handler_is_sent_as_it_was_agreed(bench):
    bench.send(terms=WATCHED)
    await bench.run_once(Errored("BOOM"), bench.failed())
    (handler,) = await handlers(bench)
    assert (handler.name, handler.queue, handler.priority) == ("clean_up", "default", 7)


async def test_its_id_is_derived_from_task_and_epoch(bench):
    task_id = bench.send(terms=WATCHED)
    failed = await bench.run_once(Errored("BOOM"), bench.failed())
    (handler,) = await handlers(bench)
    assert handler.id == failure_handler_id(task_id, failed.epoch)


async def test_it_is_given_the_id_and_the_error(bench):
    def clean_up(task_id: str, error: TaskError) -> TaskResult[None, TaskError]:
        raise NotImplementedError

    task_id = bench.send(terms=WATCHED)
    await bench.run_once(Errored("BOOM"), bench.failed())
    (handler,) = await handlers(bench)
    arguments = bench.define(clean_up).codec.decode_call(handler.payload)
    assert arguments == {"task_id": str(task_id), "error": TaskError("BOOM", "it went wrong")}


async def test_a_settle_whose_acknowledgement_was_lost_sends_it_once(bench):
    bench.send(terms=WATCHED)
    task = await bench.claim_one()
    await bench.report(task, Errored("BOOM"), bench.failed())
    assert await bench.report(task, Errored("BOOM"), bench.failed()) == set()
    assert len(await handlers(bench)) == 1


async def test_a_repeated_settle_leaves_an_ended_handler_ended(bench):
    bench.send(terms=WATCHED)
    task = await bench.claim_one()
    await bench.report(task, Errored("BOOM"), bench.failed())
    await bench.run_once(Succeeded(), b'{"ok":null}')
    await bench.report(task, Errored("BOOM"), bench.failed())
    assert await handlers(bench) == []


class Abort(Exception):  # noqa: N818 - a law's own signal
    pass


async def test_an_undone_failure_undoes_its_handler(bench):
    bench.send(terms=WATCHED)
    task = await bench.claim_one()

    async def settle_in_vain():
        async with bench.unit_of_work() as tx:
            await bench.judge_runs(tx, [RunReport(task, Errored("BOOM"), bench.failed())])
            raise Abort

    with pytest.raises(Abort):
        await settle_in_vain()
    assert (await bench.find(task.id)).status is TaskStatus.RUNNING
    assert await handlers(bench) == []


async def test_the_handlers_own_on_failure_is_ignored(bench):
    looping = FailureHandler(name="clean_up", queue="default", terms=WATCHED)
    bench.send(terms=Terms(on_failure=looping))
    await bench.run_once(Errored("BOOM"), bench.failed())
    await bench.run_once(Errored("BOOM"), bench.failed())
    assert await bench.pending_names() == []


async def test_the_handlers_own_retry_policy_holds(bench):
    policy = RetryPolicy.fixed([9], auto_retry_for=["BOOM"])
    handler = FailureHandler(name="clean_up", queue="default", terms=Terms(retry=policy))
    bench.send(terms=Terms(on_failure=handler))
    await bench.run_once(Errored("BOOM"), bench.failed())
    retried = await bench.run_once(Errored("BOOM"), bench.failed())
    assert (retried.name, retried.status) == ("clean_up", TaskStatus.PENDING)


async def test_a_run_that_a_cancel_ended_sends_none_when_it_is_reported_again(bench):
    bench.send(terms=WATCHED)
    task = await bench.claim_one()
    await bench.cancel(task)
    for _ in range(2):
        await bench.report(task, Crashed())
    assert await handlers(bench) == []
