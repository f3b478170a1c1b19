"""The one place where use cases meet the ports they need."""

from typing import TypeVar, cast

from dependency_injector import containers
from dependency_injector.providers import Dependency, Provider, Singleton

from horsies.application.context import Surroundings
from horsies.application.lifespan import Lifespan
from horsies.application.ports.clock import Clock
from horsies.application.ports.codec import Codec
from horsies.application.ports.completer import Completer
from horsies.application.ports.completions import Completions
from horsies.application.ports.dice import Dice
from horsies.application.ports.id_source import IdSource
from horsies.application.ports.task_inbox import TaskInbox
from horsies.application.ports.unit_of_work import UnitOfWork
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.application.usecases.await_results import AwaitResults
from horsies.application.usecases.cancel_tasks import CancelTasks
from horsies.application.usecases.claim_tasks import ClaimTasks
from horsies.application.usecases.control_queues import ControlQueues
from horsies.application.usecases.control_workers import ControlWorkers
from horsies.application.usecases.enqueue_tasks import EnqueueTasks
from horsies.application.usecases.inspect_tasks import InspectTasks
from horsies.application.usecases.perform_task import PerformTask
from horsies.application.usecases.ping_workers import PingWorkers
from horsies.application.usecases.reap_tasks import ReapTasks
from horsies.application.usecases.retry_task import RetryTask
from horsies.application.usecases.send_heartbeat import SendHeartbeat
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.entrypoints.runtime import RunAsync, RunSync, Runtime

T = TypeVar("T")


def _given(port: type[T]) -> Provider[T]:
    """A port whose adapter is passed in when the container is made."""
    del port  # it says the type: a Protocol cannot be checked at runtime
    return cast("Provider[T]", Dependency())


class Container(containers.DeclarativeContainer):
    """Give it an application and a set of adapters; take use cases out of it."""

    config = _given(AppConfig)
    registry = _given(TaskRegistry)
    gate = _given(SendGate)
    codec = _given(Codec)
    clock = _given(Clock)
    dice = _given(Dice)
    ids = _given(IdSource)
    unit_of_work = _given(UnitOfWork)
    inbox = _given(TaskInbox)
    completions = _given(Completions)
    completer = _given(Completer)
    run_sync = _given(RunSync)
    run_async = _given(RunAsync)

    enqueue: Provider[EnqueueTasks] = Singleton(
        EnqueueTasks, inbox, registry, codec, ids, clock, config, gate
    )
    claim: Provider[ClaimTasks] = Singleton(
        ClaimTasks, config.provided.queues.call(), config.provided.cluster_wide_cap
    )
    lifespan: Provider[Lifespan] = Singleton(Lifespan, registry.provided.hooks)
    surroundings: Provider[Surroundings] = Singleton(
        Surroundings,
        registry.provided.hooks,
        lifespan,
        completer,
        config.provided.payload_limit_bytes,
    )
    perform: Provider[PerformTask] = Singleton(PerformTask, registry, codec, surroundings)
    settle: Provider[SettleTasks] = Singleton(
        SettleTasks, codec, clock, dice, config.provided.rules
    )
    reap: Provider[ReapTasks] = Singleton(
        ReapTasks,
        unit_of_work,
        settle,
        clock,
        config.provided.recovery,
        config.provided.claim_lease,
    )
    heartbeat: Provider[SendHeartbeat] = Singleton(
        SendHeartbeat, unit_of_work, config.provided.claim_lease
    )
    await_results: Provider[AwaitResults] = Singleton(
        AwaitResults, unit_of_work, completions, registry, codec
    )
    inspect: Provider[InspectTasks] = Singleton(InspectTasks, unit_of_work, codec, clock)
    cancel: Provider[CancelTasks] = Singleton(CancelTasks, unit_of_work)
    retry: Provider[RetryTask] = Singleton(RetryTask, unit_of_work, ids)
    workers: Provider[ControlWorkers] = Singleton(ControlWorkers, unit_of_work, clock)
    queues: Provider[ControlQueues] = Singleton(ControlQueues, unit_of_work, clock)
    ping: Provider[PingWorkers] = Singleton(PingWorkers, unit_of_work, clock)

    runtime: Provider[Runtime] = Singleton(
        Runtime, enqueue, await_results, inspect, cancel, retry, run_sync, run_async
    )
