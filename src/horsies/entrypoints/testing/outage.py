"""Ports that can be put out of reach, to see how an application bears it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from horsies.application.ports.task_inbox import TaskInbox
from horsies.application.ports.unit_of_work import Transaction, UnitOfWork
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.sending import Batch, Receipt


class Outage:
    """The switch that the ports below look at."""

    def __init__(self) -> None:
        self.on = False

    def check(self) -> None:
        if self.on:
            raise BrokerError(
                "the database cannot be reached (sandbox outage)", fault=BrokerFault.CONNECTION
            )


class BreakableInbox:
    def __init__(self, inbox: TaskInbox, outage: Outage) -> None:
        self._inbox = inbox
        self._outage = outage

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        self._outage.check()
        return self._inbox.accept(batch, connection)

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        return self.accept(batch, connection)


class BreakableUnitOfWork:
    def __init__(self, unit_of_work: UnitOfWork, outage: Outage) -> None:
        self._unit_of_work = unit_of_work
        self._outage = outage

    def __call__(self) -> AbstractAsyncContextManager[Transaction]:
        self._outage.check()
        return self._unit_of_work()
