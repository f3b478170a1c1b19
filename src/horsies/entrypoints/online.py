"""An app's way to its database: the engine, the loop it lives on, and the server if it is ours."""

import asyncio
import atexit
import logging
from collections.abc import Collection, Coroutine, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from horsies.adapters.embedded.server import EmbeddedServer
from horsies.adapters.postgres.completer import PostgresCompleter
from horsies.adapters.postgres.engine import PostgresEngine
from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.migrate import PostgresSchema
from horsies.adapters.system.dice import SystemDice
from horsies.adapters.system.id_source import Uuid7Source
from horsies.application.ports.codec import Codec
from horsies.application.ports.completer import StillOpen
from horsies.application.ports.completions import CompletionWatch
from horsies.application.ports.schema import Schema
from horsies.application.ports.unit_of_work import Transaction
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.application.settings.postgres import PostgresConfig
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.ids import TaskId
from horsies.domain.sending import Batch, Receipt
from horsies.domain.task import Claim
from horsies.entrypoints.bridge import LoopClosedError, LoopThread
from horsies.entrypoints.config import embedded_project, is_assumed, resolve_broker
from horsies.entrypoints.container import Container
from horsies.entrypoints.forks import remember
from horsies.entrypoints.runtime import Runtime

T = TypeVar("T")

_log = logging.getLogger("horsies")
_parents_own: list[object] = []
"""Kept from the garbage collector, which would close them."""

ASSUMED = "no database is configured, so this is the embedded PostgreSQL"

LAST_WORDS_SECONDS = 5.0
"""For those who still wait when an app is closed, and are told so."""


class Online:
    """Nothing is looked up, started or connected before something is asked for."""

    def __init__(
        self, config: AppConfig, registry: TaskRegistry, codec: Codec, gate: SendGate
    ) -> None:
        self._config = config
        self._connecting, self._closing = Lock(), Lock()
        self._connection: Connected | None = None
        self._loop = LoopThread()
        remember(self)
        self.container = Container(
            config=config,
            registry=registry,
            gate=gate,
            codec=codec,
            clock=self,
            dice=SystemDice(),
            ids=Uuid7Source(),
            unit_of_work=self.transaction,
            inbox=BridgedInbox(self),
            completions=self,
            completer=UnconnectedCompleter(config),
            run_sync=self.run,
            run_async=self.call,
        )
        self.runtime: Runtime = self.container.runtime()

    def connected(self) -> "Connected":
        with self._connecting:
            if self._connection is None:
                self._connection = Connected(self._config, self._loop)
                atexit.register(self.close)
            return self._connection

    @property
    def schema(self) -> Schema:
        return self.connected().schema

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return self.connected().engine.unit_of_work()

    def now(self) -> datetime:
        """The database's clock, as soon as there is one."""
        connection = self._connection
        return datetime.now(UTC) if connection is None else connection.engine.clock.now()

    def watch(self, ids: Collection[TaskId]) -> AbstractContextManager[CompletionWatch]:
        return self.connected().engine.completions.watch(ids)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Connecting may take its time, so it is done here and not on the engine's loop."""
        with _closed_on_failure(coroutine):
            self.connected()
        with _told_of_closing():
            return self._loop.run(coroutine)

    async def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with _closed_on_failure(coroutine):
            if self._connection is None:
                await asyncio.to_thread(self.connected)
        with _told_of_closing():
            return await self._loop.run_async(coroutine)

    def close(self) -> None:
        """Give back connections and threads; whoever asks for something afterwards connects anew.

        Whoever is served meanwhile is told that this is closed: what is running on the old loop
        must not find a new connection. The last user of an embedded server stops it.
        """
        with self._closing:
            atexit.unregister(self.close)
            if self._connection is not None:
                self._connection.close(self._loop)
            self._loop.close()
            with self._connecting:
                self._connection, self._loop = None, LoopThread()

    def forget_connections(self) -> None:
        """In a forked child: what was open is the parent's, and must not even be closed."""
        atexit.unregister(self.close)
        self._loop.abandon()
        _parents_own.append((self._connection, self._loop))
        self._connection, self._loop = None, LoopThread()
        self._connecting, self._closing = Lock(), Lock()


@dataclass(frozen=True, slots=True)
class Reached:
    """The way to a database; `server` is the embedded one, if that is it."""

    link: Link
    server: EmbeddedServer | None

    def leave(self) -> None:
        """The last user of an embedded server stops it."""
        if self.server is not None:
            self.server.release()


def reach(config: AppConfig) -> Reached:
    """Find the database; an embedded one is started."""
    broker = resolve_broker(config)
    project = embedded_project(broker)
    if project is None:
        return Reached(link_of(config, broker, broker.dsn), None)
    server = EmbeddedServer(project)
    dsn = server.acquire()
    if is_assumed(config):
        _log.warning("%s of %s: set HORSIES_DATABASE_URL to use another", ASSUMED, project)
    else:
        _log.info("using the embedded PostgreSQL of %s", project)
    return Reached(link_of(config, broker, dsn), server)


class Connected:
    """The engine on the database that was reached."""

    def __init__(self, config: AppConfig, loop: LoopThread) -> None:
        self._reached = reach(config)
        self.schema = PostgresSchema(self._reached.link)
        if self._reached.server is not None:  # nobody else looks after its tables
            loop.run(self.schema.migrate())
        self.engine = PostgresEngine(self._reached.link)

    def close(self, loop: LoopThread) -> None:
        loop.run(self._close())
        self._reached.leave()

    async def _close(self) -> None:
        await self.engine.aclose()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=LAST_WORDS_SECONDS)


class BridgedInbox:
    """Sends await the engine's loop, unless they go through a connection of the caller's loop."""

    def __init__(self, online: Online) -> None:
        self._online = online

    def accept(self, batch: Batch, connection: object | None = None) -> Sequence[Receipt]:
        return self._online.connected().engine.inbox.accept(batch, connection)

    async def accept_async(
        self, batch: Batch, connection: object | None = None
    ) -> Sequence[Receipt]:
        accepting = self._accept(batch, connection)
        return await accepting if connection is not None else await self._online.call(accepting)

    async def _accept(self, batch: Batch, connection: object | None) -> Sequence[Receipt]:
        return await self._online.connected().engine.inbox.accept_async(batch, connection)


class UnconnectedCompleter:
    """Callers bring the connection; all that has to be known is where the tables are."""

    def __init__(self, config: AppConfig) -> None:
        self._config = config

    def complete(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        return self._completer.complete(claim, result, connection)

    async def complete_async(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        return await self._completer.complete_async(claim, result, connection)

    @cached_property
    def _completer(self) -> PostgresCompleter:
        broker = resolve_broker(self._config)
        return PostgresCompleter.on(link_of(self._config, broker, broker.dsn))


def container_on(
    config: AppConfig,
    registry: TaskRegistry,
    codec: Codec,
    gate: SendGate,
    engine: PostgresEngine,
) -> Container:
    """The use cases of who has an engine, and the loop it lives on, to itself."""
    return Container(
        config=config,
        registry=registry,
        gate=gate,
        codec=codec,
        clock=engine.clock,
        dice=SystemDice(),
        ids=Uuid7Source(),
        unit_of_work=engine.unit_of_work,
        inbox=engine.inbox,
        completions=engine.completions,
        completer=engine.completer,
    )


@contextmanager
def _told_of_closing() -> Generator[None]:
    try:
        yield
    except LoopClosedError as error:
        raise BrokerError("this app is closed", fault=BrokerFault.CLOSED) from error


@contextmanager
def _closed_on_failure(coroutine: Coroutine[Any, Any, Any]) -> Generator[None]:
    try:
        yield
    except BaseException:
        coroutine.close()
        raise


def link_of(config: AppConfig, broker: PostgresConfig, dsn: str) -> Link:
    return Link(
        dsn=dsn,
        listen_dsn=dsn if broker.listen_url is None else broker.listen_dsn,
        schema=broker.schema,
        pool_min_size=broker.pool_min_size,
        pool_max_size=broker.pool_max_size,
        statement_timeout_ms=broker.statement_timeout_ms,
        keepalives=broker.keepalives,
        session_settings=broker.prepare_statements,
        notify=broker.notify,
        poll_seconds=config.resilience.notify_poll_interval_ms / 1000,
    )
