"""An exception at any point of a transaction leaves the engine as it was."""

import sys

import pytest

from horsies.domain.queue import ClaimOrder, Share
from tests.contract.conftest import World, memory_world


class Interrupt(BaseException):
    pass


async def claim_interrupted_at(world: World, step: int) -> bool:
    """Claim, with an interrupt at the given line that the adapter executes."""
    left = step

    def trace(frame, event, argument):
        nonlocal left
        if "adapters/memory/task_" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise Interrupt
        return trace

    order = ClaimOrder(world.worker, 2, ((Share("default", 2),),), start=True)
    before = sys.gettrace()
    try:
        async with world.unit_of_work() as tx:
            sys.settrace(trace)
            await tx.tasks.claim(order)
            sys.settrace(before)
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("step", range(1, 120, 7))
async def test_no_task_is_lost_wherever_a_claim_is_interrupted(step):
    world = memory_world()
    stranger = world.send("stranger", good_until=world.now())
    sent = [world.send() for _ in range(3)]
    interrupted = await claim_interrupted_at(world, step)
    claimed = [task.id for task in await world.claim()]
    assert claimed == (sent if interrupted else sent[2:])
    async with world.unit_of_work() as tx:
        assert list(await tx.recovery.expire(5)) == [stranger]
