"""The broker: the operator's hands on a queue, from Python."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.ports.schema import SchemaState
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.application.settings.postgres import PostgresConfig
from horsies.domain.errors import BrokerError, BrokerFault

if TYPE_CHECKING:
    from horsies.application.usecases.reap_tasks import ReapTasks
    from horsies.entrypoints.online import Online


class PostgresBroker:
    """All verbs are coroutines, usable on any event loop, and raise `BrokerError`."""

    def __init__(self, online: "Online") -> None:
        self._online = online

    @classmethod
    def connect_with(cls, config: PostgresConfig | AppConfig) -> "PostgresBroker":
        """Without an app: `config` says where the database is."""
        from horsies.entrypoints.online import Online  # noqa: PLC0415 - import horsies is lean

        app = config if isinstance(config, AppConfig) else AppConfig(broker=config)
        return cls(Online(app, TaskRegistry(), MsgspecCodec(), SendGate()))

    async def get_stale_tasks(self, *, stale_threshold_minutes: float) -> list[Mapping[str, Any]]:
        """CLAIMED and RUNNING tasks without a sign of life for so long."""
        inspect = self._online.container.inspect()
        silence = timedelta(minutes=stale_threshold_minutes)
        silent = await self._online.call(inspect.silent(silence))
        return [asdict(task) | {"status": str(task.status)} for task in silent]

    async def mark_stale_tasks_as_failed(self, *, stale_threshold_ms: int) -> int:
        """Judge silent RUNNING tasks as crashed; one that may be retried is. Gives their number."""
        return await self._online.call(self._reap.recover_silent_running(_ms(stale_threshold_ms)))

    async def requeue_stale_claimed(self, *, stale_threshold_ms: int) -> int:
        """Give silent CLAIMED tasks back to the queue; gives their number."""
        return await self._online.call(self._reap.requeue_silent_claimed(_ms(stale_threshold_ms)))

    async def migrate(self) -> tuple[str, ...]:
        """Bring the tables to the present version; gives the names of what was applied."""
        return await self._online.call(self._migrate())

    async def ensure_schema_initialized(self) -> None:
        """Migrate if need be, and raise if the tables are of a version that does not fit."""
        await self.migrate()
        state = await self._online.call(self._state())
        if state.problem is not None:
            raise BrokerError(state.problem, fault=BrokerFault.SCHEMA)

    async def _migrate(self) -> tuple[str, ...]:
        return await self._online.schema.migrate()

    async def _state(self) -> SchemaState:
        return await self._online.schema.state()

    def close(self) -> None:
        self._online.close()

    @property
    def _reap(self) -> "ReapTasks":
        return self._online.container.reap()


def _ms(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)
