"""A worker put together, and run until it is told to stop."""

import asyncio
import os
import platform
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from horsies import __version__
from horsies.adapters.execution.inline import InlineExecutor
from horsies.adapters.execution.pool import PoolSettings, ProcessPool
from horsies.adapters.postgres.engine import PostgresEngine
from horsies.adapters.postgres.migrate import PostgresSchema
from horsies.adapters.system.dice import SystemDice
from horsies.adapters.system.gauges import SystemGauges
from horsies.adapters.system.id_source import Uuid7Source
from horsies.application.ports.executor import Executor
from horsies.application.settings.app import AppConfig
from horsies.application.settings.postgres import PostgresConfig
from horsies.application.settings.worker import WorkerConfig, served_queues
from horsies.application.usecases.claim_tasks import ClaimTasks
from horsies.application.worker.appetite import Appetite
from horsies.application.worker.heart import HeartLoop
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.patience import Patience
from horsies.application.worker.progress import ProgressLoop
from horsies.application.worker.reaping import ReapLoop
from horsies.application.worker.service import WorkerService
from horsies.application.worker.tick import Tick
from horsies.application.worker.vigil import Vigil
from horsies.application.worker.work import WorkLoop
from horsies.domain.errors import BrokerError, BrokerFault
from horsies.domain.queue import Queue
from horsies.domain.worker import Load, Versions, Worker
from horsies.entrypoints import child
from horsies.entrypoints.locator import locator_of
from horsies.entrypoints.logs import LogFormat
from horsies.entrypoints.online import Reached, reach

if TYPE_CHECKING:
    from horsies.entrypoints.app import Horsies

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """The process in which a worker runs: an app, how it is to work, and how it logs."""

    app: "Horsies"
    config: WorkerConfig
    log_format: LogFormat = LogFormat.TEXT

    async def run(self) -> None:
        """Until SIGTERM or SIGINT; a second one does not wait for what still runs."""
        self.app.load_tasks(self.config.imports)
        app_config = _with_dsn(self.app.config, self.config)
        reached = await asyncio.to_thread(reach, app_config)
        patience = Patience(app_config.resilience, SystemDice())
        try:
            schema = await patience.through(lambda: _migrate(reached))
            await self._work(app_config, reached, patience, schema)
        finally:
            await asyncio.to_thread(reached.leave)

    async def _work(
        self, config: AppConfig, reached: Reached, patience: Patience, schema: int | None
    ) -> None:
        engine = PostgresEngine(reached.link)
        try:
            queues = served_queues(config, self.config)
            worker = self._worker(queues, engine, schema, hears=reached.link.notify)
            service = self._service(config, engine, patience, worker)
            with _stopped_by_signals(service):
                await service.run()
        finally:
            await engine.aclose()

    def _service(
        self, config: AppConfig, engine: PostgresEngine, patience: Patience, worker: Worker
    ) -> WorkerService:
        container = self.app.container(config, engine)
        claim = ClaimTasks(served_queues(config, self.config), config.cluster_wide_cap)
        executor = self._executor()
        holdings = Holdings()
        tick = Tick(
            engine.unit_of_work,
            container.settle(),
            claim,
            container.registry(),
            worker.id,
            engine.turn_over,
        )
        work = WorkLoop(
            tick=tick,
            executor=executor,
            holdings=holdings,
            unit_of_work=engine.unit_of_work,
            clock=engine.clock,
            patience=patience,
            appetite=Appetite(
                holdings,
                prefetch_buffer=config.prefetch_buffer,
                max_held=self.config.max_claim_per_worker,
                max_batch=self.config.max_claim_batch,
            ),
            poll_seconds=config.resilience.notify_poll_interval_ms / 1000,
        )
        reaping = ReapLoop(
            worker=worker.id,
            reap=container.reap(),
            unit_of_work=engine.unit_of_work,
            clock=engine.clock,
            dice=container.dice(),
            patience=patience,
        )
        vigil = Vigil(executor, config.recovery)
        heart = HeartLoop(
            worker=worker,
            beat=container.heartbeat(),
            recovery=config.recovery,
            holdings=holdings,
            executor=executor,
            gauges=SystemGauges(lambda: executor.pids if isinstance(executor, ProcessPool) else ()),
            vigil=vigil,
            work=work,
            clock=engine.clock,
            patience=patience,
            state=lambda: service.state,
        )
        service = WorkerService(
            worker=worker.id,
            executor=executor,
            announcements=engine.announcements,
            unit_of_work=engine.unit_of_work,
            holdings=holdings,
            patience=patience,
            work=work,
            heart=heart,
            vigil=vigil,
            reaping=reaping,
            progress=ProgressLoop(
                executor=executor, unit_of_work=engine.unit_of_work, patience=patience
            ),
            grace_seconds=_seconds(self.config.shutdown_grace_ms),
        )
        return service

    def _worker(
        self, queues: Sequence[Queue], engine: PostgresEngine, schema: int | None, *, hears: bool
    ) -> Worker:
        now = engine.clock.now()
        caps = {q.name: q.max_concurrency for q in queues if q.max_concurrency is not None}
        return Worker(
            id=Uuid7Source().worker_id(),
            name=self.config.name,
            hostname=socket.gethostname(),
            pid=os.getpid(),
            queues=tuple(queue.name for queue in queues),
            started_at=now,
            lease_until=now,
            caps=caps,
            load=Load(places=self.config.processes or self.config.concurrency),
            versions=Versions(horsies=__version__, python=platform.python_version(), schema=schema),
            hears=hears,
        )

    def _executor(self) -> Executor:
        performer = self.app.performer()
        if self.config.processes == 0:
            return InlineExecutor(performer, self.config.concurrency)
        setup = child.ChildSetup(
            locator=self.config.app_locator or locator_of(self.app),
            imports=tuple(self.config.imports),
            path=tuple(sys.path),
            directory=str(Path.cwd()),
            loglevel=self.config.loglevel_number,
            log_format=str(self.log_format),
        )
        settings = PoolSettings(
            child_main=child.NAME,
            setup=setup.encode(),
            processes=self.config.processes,
            start_method=self.config.start_method,
            concurrency=self.config.concurrency,
            kill_grace_seconds=self.config.kill_grace_ms / 1000,
            line_seconds=self.config.run_ahead_ms / 1000,
            max_tasks=self.config.max_tasks_per_child,
            max_memory_bytes=(self.config.max_memory_per_child_mb or 0) * 1024 * 1024,
        )
        return ProcessPool(settings, performer)


async def _migrate(reached: Reached) -> int | None:
    """Any number of workers may do so at the same time; a schema that does not fit is refused."""
    schema = PostgresSchema(reached.link)
    await schema.migrate()
    state = await schema.state()
    if state.problem is not None:
        raise BrokerError(state.problem, fault=BrokerFault.SCHEMA)
    return state.version


class _stopped_by_signals:  # noqa: N801 - a context manager
    """Only the main thread hears of signals; a worker elsewhere is stopped by its owner."""

    def __init__(self, service: WorkerService) -> None:
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._heard = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._heard:
            for number in STOP_SIGNALS:
                self._loop.add_signal_handler(number, self._service.stop)

    def __exit__(self, *_: object) -> None:
        if self._heard:
            for number in STOP_SIGNALS:
                self._loop.remove_signal_handler(number)


def _with_dsn(app: AppConfig, worker: WorkerConfig) -> AppConfig:
    if worker.dsn is None:
        return app
    dsn = worker.dsn if isinstance(worker.dsn, str) else worker.dsn.reveal()
    if app.broker is None:
        return replace(app, broker=PostgresConfig(dsn))
    return replace(app, broker=replace(app.broker, database_url=dsn, listen_url=None))


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else timedelta(milliseconds=milliseconds).total_seconds()
