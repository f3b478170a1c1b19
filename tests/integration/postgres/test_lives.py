"""Whatever legal life a task leads, the database's own checks agree with it."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horsies.domain.outcome import Cancel, Complete, Fail, GiveBack, Reject, RetryAt
from horsies.domain.task_lifecycle import TaskStatus

STEPS = (
    "claim",
    "prefetch",
    "start",
    "release",
    "promote",
    "cancel",
    "expire",
    "reject",
    "complete",
    "fail",
    "crash",
    "crash for good",
    "retry now",
    "retry later",
    "shut down",
    "give back",
    "give back later",
    "unresolved",
    "refuse",
    "yield",
    "never began",
)
SECOND = timedelta(seconds=1)
lives = st.lists(st.sampled_from(STEPS), max_size=25)


@settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(life=lives, delayed=st.booleans(), perishable=st.booleans())
async def test_no_legal_life_violates_a_check(world, life, delayed, perishable):
    task_id = world.send(
        delay=SECOND if delayed else None,
        good_until=world.now() + 9 * SECOND if perishable else None,
    )
    for step in life:
        await _take(world, task_id, step)
        world.pass_time(seconds=1)
        task = await world.find(task_id)
        assert task.claimable <= (task.status is TaskStatus.PENDING)
        assert task.retries <= task.attempt <= task.epoch
    async with world.unit_of_work() as tx:
        attempts = [attempt.number for attempt in await tx.archive.attempts(task_id)]
        await tx.tasks.cancel([task_id])
    assert attempts == list(range(1, len(attempts) + 1))


async def _take(world, task_id, step):
    task = await world.find(task_id)
    if step in {"claim", "prefetch"}:
        await world.claim(start=step == "claim")
    elif step in {"start", "release"}:
        async with world.unit_of_work() as tx:
            await getattr(tx.tasks, step)([task.claim])
    elif step == "promote":
        await world.promote()
    elif step == "cancel":
        async with world.unit_of_work() as tx:
            await tx.tasks.cancel([task_id])
    elif step == "expire":
        async with world.unit_of_work() as tx:
            await tx.recovery.expire(10)
    elif step == "reject":
        async with world.unit_of_work() as tx:
            await tx.recovery.reject(task, "WORKER_RESOLUTION_ERROR", b"{}")
    else:
        await _settle(world, task, step)


async def _settle(world, task, step):
    now = world.now()
    verdicts = {
        "complete": Complete(),
        "fail": Fail("BOOM"),
        "crash": RetryAt(now, "WORKER_CRASHED"),
        "crash for good": Fail("WORKER_CRASHED"),
        "retry now": RetryAt(now, "BOOM"),
        "retry later": RetryAt(now + 3 * SECOND, "BOOM"),
        "shut down": RetryAt(now, "WORKER_SHUTDOWN", free=True),
        "give back": GiveBack(),
        "give back later": GiveBack(now + 2 * SECOND),
        "unresolved": GiveBack(now + SECOND, unresolved="ARGUMENT_MISMATCH"),
        "refuse": Reject("ARGUMENT_MISMATCH"),
        "yield": Cancel(),
        "never began": Cancel(begun=False),
    }
    await world.settle(task, verdicts[step], b"{}", crashed=step.startswith("crash"))
