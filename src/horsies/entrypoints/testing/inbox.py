"""An inbox that remembers what was sent, and can be out of reach."""

from collections.abc import Sequence

from horsies.application.ports.task_inbox import TaskInbox
from horsies.domain.errors import BrokerError
from horsies.domain.sending import Accepted, Batch, Receipt
from horsies.domain.task import NewTask


class RecordingInbox:
    def __init__(self, inbox: TaskInbox) -> None:
        self._inbox = inbox
        self.sent: list[NewTask] = []
        self.reachable = True

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        if not self.reachable:
            raise BrokerError("the database cannot be reached (sandbox outage)", retryable=True)
        receipts = self._inbox.accept(batch, connection)
        self.sent += [
            task
            for task, receipt in zip(batch.tasks, receipts, strict=True)
            if isinstance(receipt, Accepted)
        ]
        return receipts

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        return self.accept(batch, connection)
