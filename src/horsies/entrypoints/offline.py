"""The runtime of an app that has no queue to reach: every verb says so, in its own way."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager

from horsies.adapters.system.clock import SystemClock
from horsies.adapters.system.dice import SystemDice
from horsies.adapters.system.id_source import Uuid7Source
from horsies.application.ports.codec import Codec
from horsies.application.ports.completions import CompletionWatch
from horsies.application.ports.unit_of_work import Transaction
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.domain.errors import BrokerError
from horsies.domain.ids import TaskId
from horsies.domain.sending import Batch, Receipt
from horsies.entrypoints.bridge import drive
from horsies.entrypoints.container import Container
from horsies.entrypoints.runtime import Runtime


class Offline:
    """All ports of a store at once, none of which leads anywhere."""

    def accept(self, batch: Batch, connection: object | None = None) -> list[Receipt]:
        del batch, connection
        raise _nowhere()

    async def accept_async(self, batch: Batch, connection: object | None = None) -> list[Receipt]:
        return self.accept(batch, connection)

    def unit_of_work(self) -> AbstractAsyncContextManager[Transaction]:
        raise _nowhere()

    def watch(self, ids: Collection[TaskId]) -> AbstractContextManager[CompletionWatch]:
        del ids
        raise _nowhere()


def offline_runtime(
    config: AppConfig, registry: TaskRegistry, codec: Codec, gate: SendGate
) -> Runtime:
    nowhere = Offline()
    container = Container(
        config=config,
        registry=registry,
        codec=codec,
        gate=gate,
        clock=SystemClock(),
        dice=SystemDice(),
        ids=Uuid7Source(),
        unit_of_work=nowhere.unit_of_work,
        inbox=nowhere,
        completions=nowhere,
        run_sync=drive,
    )
    return container.runtime()


def _nowhere() -> BrokerError:
    return BrokerError(
        "there is no queue to reach: this version of Horsies runs in memory only, "
        "inside `with app.testing():`"
    )
