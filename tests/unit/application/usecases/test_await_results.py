"""Waiting: what has ended is final, what could not be learnt is not."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from horsies.application.usecases.await_results import AwaitResults
from horsies.domain.codes import OperationalErrorCode, OutcomeErrorCode, RetrievalErrorCode
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.outcome import Complete, Errored, Fail, Succeeded
from horsies.domain.result import TaskResult
from horsies.domain.retry import RetryPolicy
from horsies.domain.task import Terms
from tests.unit.application.usecases.bench import add


@pytest.fixture
def wait(bench):
    bench.define(add, "add")
    return AwaitResults(bench.unit_of_work, bench.completions, bench.registry, bench.codec)


async def ended(bench, result, name="add", verdict=None):
    bench.send(name)
    task = await bench.claim_one()
    await bench.settle(task, verdict or Complete(), result)
    return task.id


async def test_a_result_is_read_by_the_signature_of_its_task(bench, wait):
    ending = await wait(await ended(bench, b'{"ok":7}'), 1)
    assert (ending.result, ending.final) == (TaskResult(ok=7), True)


async def test_an_error_is_read_as_one_with_its_code_as_the_enum_member(bench, wait):
    bench.send("add")
    await bench.run_once(Errored("TASK_TIMEOUT"))
    task_id = bench.send("add")
    result = bench.failed("WORKER_CRASHED")
    await bench.settle(await bench.claim_one(), Fail("WORKER_CRASHED"), result)
    error = (await wait(task_id, 1)).result.err_value
    assert error.error_code is OperationalErrorCode.WORKER_CRASHED


async def test_a_task_unknown_here_is_read_as_plain_json(bench, wait):
    ending = await wait(await ended(bench, b'{"ok":{"a":[1,2]}}', "stranger"), 1)
    assert (ending.result, ending.final) == (TaskResult(ok={"a": [1, 2]}), True)


@pytest.mark.parametrize(
    "stored", [b'{"ok":"seven"}', b"not json", b'{"ok":1,"err":{"error_code":"X"}}', b"{}"]
)
async def test_a_result_that_does_not_fit_is_a_final_error(bench, wait, stored):
    ending = await wait(await ended(bench, stored), 1)
    assert ending.final
    assert ending.result.err_value.error_code is OperationalErrorCode.RESULT_DESERIALIZATION_ERROR


async def test_an_unreadable_result_of_an_unknown_task_is_a_final_error(bench, wait):
    ending = await wait(await ended(bench, b"not json", "stranger"), 1)
    assert ending.result.err_value.error_code is OperationalErrorCode.RESULT_DESERIALIZATION_ERROR


async def test_a_completed_task_without_a_stored_result_says_so(bench, wait):
    error = (await wait(await ended(bench, None), 1)).result.err_value
    assert error.error_code is RetrievalErrorCode.RESULT_NOT_AVAILABLE


async def test_a_cancelled_task_says_so(bench, wait):
    task_id = bench.send("add")
    await bench.cancel(await bench.find(task_id))
    ending = await wait(task_id, 1)
    error = ending.result.err_value
    assert (error.error_code, ending.final) == (OutcomeErrorCode.TASK_CANCELLED, True)
    assert error.message == f"task {task_id} was cancelled"


async def test_an_expired_task_says_so(bench, wait):
    task_id = bench.send("add", good_until=bench.now())
    await bench.reap.expire()
    ending = await wait(task_id, 1)
    error = ending.result.err_value
    assert (error.error_code, ending.final) == (OutcomeErrorCode.TASK_EXPIRED, True)
    assert error.message == f"task {task_id} was not started before its good_until"


async def test_an_unknown_task_is_an_error_that_may_pass(bench, wait):
    ending = await wait(bench.ids.task_id(), 1)
    code = ending.result.err_value.error_code
    assert (code, ending.final) == (RetrievalErrorCode.TASK_NOT_FOUND, False)


@pytest.mark.parametrize("seconds", [0, 0.01, -1])
async def test_a_timeout_is_an_error_that_may_pass(bench, wait, seconds):
    ending = await wait(bench.send("add"), seconds)
    code = ending.result.err_value.error_code
    assert (code, ending.final) == (RetrievalErrorCode.WAIT_TIMEOUT, False)


async def test_a_timeout_of_zero_still_sees_what_has_ended(bench, wait):
    assert (await wait(await ended(bench, b'{"ok":7}'), 0)).final


async def test_an_end_wakes_who_waits_without_a_timeout(bench, wait):
    task_id = bench.send("add")
    waiting = asyncio.create_task(wait(task_id, None))
    await asyncio.sleep(0)
    await bench.run_once(Succeeded(), b'{"ok":7}')
    async with asyncio.timeout(30):
        assert (await waiting).result == TaskResult(ok=7)


async def test_a_retry_does_not_end_the_waiting(bench, wait):
    terms = Terms(retry=RetryPolicy.fixed([1], auto_retry_for=["BOOM"]))
    task_id = bench.send("add", terms=terms)
    waiting = asyncio.create_task(wait(task_id, 5))
    await asyncio.sleep(0)
    await bench.run_once(Errored("BOOM"), bench.failed())
    bench.pass_time(seconds=1)
    await asyncio.sleep(0)
    assert not waiting.done()
    await bench.run_once(Succeeded(), b'{"ok":7}')
    assert (await waiting).result == TaskResult(ok=7)


async def test_tasks_are_told_as_they_end(bench, wait):
    slow, fast = bench.send("add"), bench.send("add")
    slow_task, fast_task = await bench.claim()
    seen = []

    async def listen():
        async for task_id, _ in wait.as_they_end([slow, fast], 5):
            seen.append(task_id)

    listening = asyncio.create_task(listen())
    for task in (fast_task, slow_task):
        await asyncio.sleep(0.001)
        await bench.settle(task)
    await listening
    assert seen == [fast, slow]


async def test_what_has_ended_before_is_told_in_the_order_of_its_end(bench, wait):
    ids = [bench.send("add") for _ in range(20)]
    tasks = {task.id: task for task in await bench.claim()}
    for task_id in reversed(ids):
        bench.pass_time(seconds=1)
        await bench.settle(tasks[task_id])
    told = [task_id async for task_id, _ in wait.as_they_end(ids, 5)]
    assert told == list(reversed(ids))


async def test_the_late_are_left_out_when_the_time_is_up(bench, wait):
    done, late = await ended(bench, b'{"ok":7}'), bench.send("add")
    told = [task_id async for task_id, _ in wait.as_they_end([done, late], 0.01)]
    assert told == [done]


async def test_waiting_for_nothing_is_over_at_once(wait):
    assert [ending async for ending in wait.as_they_end([], None)] == []


async def test_one_id_twice_is_told_once(bench, wait):
    task_id = await ended(bench, b'{"ok":7}')
    assert len([ending async for ending in wait.as_they_end([task_id, task_id], 1)]) == 1


async def test_who_has_stopped_waiting_is_forgotten(bench, wait):
    task_id = bench.send("add")
    waiting = asyncio.create_task(wait(task_id, 5))
    await asyncio.sleep(0)
    await bench.run_once(Succeeded(), b'{"ok":7}')
    await waiting
    assert not bench.completions._watches


async def test_who_gave_up_waiting_is_forgotten(bench, wait):
    await wait(bench.send("add"), 0.001)
    assert not bench.completions._watches


class BrokenUnitOfWork:
    """A store that cannot answer."""

    def __call__(self):
        return self._begin()

    @asynccontextmanager
    async def _begin(self):
        raise BrokerError("the connection is gone", fault=BrokerFault.CONNECTION)
        yield


async def test_a_store_that_cannot_answer_is_an_error_that_may_pass(bench):
    wait = AwaitResults(BrokenUnitOfWork(), bench.completions, bench.registry, bench.codec)
    ending = await wait(bench.ids.task_id(), 1)
    error = ending.result.err_value
    assert (error.error_code, ending.final) == (OperationalErrorCode.BROKER_ERROR, False)
    assert error.message == "the connection is gone"


async def test_a_purged_task_is_not_found(bench, wait):
    task_id = await ended(bench, b'{"ok":7}')
    bench.pass_time(days=31)
    await bench.reap.purge()
    code = (await wait(task_id, 1)).result.err_value.error_code
    assert code is RetrievalErrorCode.TASK_NOT_FOUND


async def test_a_delayed_task_is_not_found_missing(bench, wait):
    task_id = bench.send("add", delay=timedelta(hours=1))
    code = (await wait(task_id, 0)).result.err_value.error_code
    assert code is RetrievalErrorCode.WAIT_TIMEOUT
