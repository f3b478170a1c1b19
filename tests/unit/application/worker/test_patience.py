"""How long it is worth to wait for a database, and what counts as its absence."""

import asyncio

import pytest

from horsies.adapters.memory.virtual_time import EvenDice
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.application.worker.patience import Patience
from horsies.domain.errors import BrokerError, BrokerFault

QUICK = WorkerResilienceConfig(db_retry_initial_ms=100, db_retry_max_ms=500)
SLOW = WorkerResilienceConfig(db_retry_initial_ms=60_000, db_retry_max_ms=60_000)


def failing(fault, times):
    """Something that fails so often, then answers."""
    failures = iter([fault] * times)

    async def act():
        for failure in failures:
            raise BrokerError("not now", fault=failure)
        return "answer"

    return act


async def test_an_outage_is_waited_out():
    patience = Patience(QUICK, EvenDice())
    assert await patience.through(failing(BrokerFault.CONNECTION, 2)) == "answer"
    assert patience.outages == 2


@pytest.mark.parametrize("fault", [BrokerFault.BUSY, BrokerFault.CONFLICT])
async def test_who_met_others_has_seen_no_outage(fault):
    patience = Patience(QUICK, EvenDice())
    await patience.through(failing(fault, 1))
    assert patience.outages == 0


async def test_whoever_meets_nobody_and_waits_too_long_has_seen_one():
    patience = Patience(QUICK, EvenDice())
    await patience.through(failing(BrokerFault.BUSY, 1), alone=True)
    assert patience.outages == 1


async def test_what_is_not_worth_it_any_more_ends_at_once():
    patience = Patience(SLOW, EvenDice())
    waiting = asyncio.create_task(patience.through(failing(BrokerFault.CONNECTION, 1)))
    await asyncio.sleep(0)
    patience.only_while(lambda: False)
    with pytest.raises(BrokerError):
        await waiting


async def test_what_only_met_others_is_tried_again_all_the_same():
    patience = Patience(QUICK, EvenDice())
    patience.only_while(lambda: False)
    assert await patience.through(failing(BrokerFault.CONFLICT, 1)) == "answer"


async def test_tries_that_are_used_up_raise():
    config = WorkerResilienceConfig(
        db_retry_initial_ms=100, db_retry_max_ms=500, db_retry_max_attempts=2
    )
    with pytest.raises(BrokerError):
        await Patience(config, EvenDice()).through(failing(BrokerFault.CONNECTION, 2))
