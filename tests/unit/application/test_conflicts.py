"""A transaction that met another one is done once more, a few times and for no other fault."""

import pytest

from horsies.application.conflicts import TRIES, redone_after_conflicts
from horsies.domain.errors import BrokerError, BrokerFault


class Unlucky:
    """Meets somebody else some times, then succeeds."""

    def __init__(self, times, fault=BrokerFault.CONFLICT):
        self.times = times
        self.fault = fault
        self.begun = 0

    @redone_after_conflicts
    async def act(self, answer):
        self.begun += 1
        if self.begun <= self.times:
            raise BrokerError("met another one", fault=self.fault)
        return answer


async def test_it_is_done_until_it_succeeds():
    unlucky = Unlucky(TRIES - 1)
    assert await unlucky.act("done") == "done"
    assert unlucky.begun == TRIES


async def test_it_is_given_up_after_a_few_times():
    unlucky = Unlucky(TRIES)
    with pytest.raises(BrokerError):
        await unlucky.act("done")
    assert unlucky.begun == TRIES


async def test_other_faults_are_told_at_once():
    unlucky = Unlucky(1, BrokerFault.CONNECTION)
    with pytest.raises(BrokerError):
        await unlucky.act("done")
    assert unlucky.begun == 1
