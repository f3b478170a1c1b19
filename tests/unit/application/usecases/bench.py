"""A workbench for use cases: the memory engine, a still clock, the real codec, even dice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.adapters.memory.engine import MemoryEngine
from horsies.adapters.memory.virtual_time import EvenDice, VirtualClock, VirtualIds
from horsies.application.context import Surroundings
from horsies.application.define_task import TaskOptions, define_task
from horsies.application.definition import TaskDefinition
from horsies.application.lifespan import Lifespan
from horsies.application.ports.executor import RunReport
from horsies.application.registry import TaskRegistry
from horsies.application.settings.app import AppConfig
from horsies.application.usecases.enqueue_tasks import EnqueueTasks, SendGate
from horsies.application.usecases.perform_task import PerformTask
from horsies.application.usecases.reap_tasks import ReapTasks
from horsies.application.usecases.settle_tasks import SettleTasks
from horsies.domain.lease import Watch
from horsies.domain.outcome import Outcome
from horsies.domain.result import TaskError, TaskResult
from horsies.domain.task import Attempt, Claim, Task
from tests.contract.conftest import START, World

AGES_AGO = START - timedelta(days=9)


@dataclass
class Bench(World):
    """A world with the use cases of one application in it."""

    config: AppConfig = field(default_factory=AppConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.codec = MsgspecCodec()
        self.registry = TaskRegistry()
        self.gate = SendGate()
        self.judge_runs = SettleTasks(self.codec, self.clock, EvenDice(), self.config.rules)
        self.reap = ReapTasks(
            self.unit_of_work,
            self.judge_runs,
            self.clock,
            self.config.recovery,
            self.config.claim_lease,
        )
        self.enqueue = EnqueueTasks(
            self.inbox, self.registry, self.codec, self.ids, self.clock, self.config, self.gate
        )
        self.surroundings = Surroundings(
            self.registry.hooks,
            Lifespan(self.registry.hooks),
            self.completer,
            self.config.payload_limit_bytes,
        )
        self.perform = PerformTask(self.registry, self.codec, self.surroundings)
        self.long_watch = Watch(server_started_at=AGES_AGO, connected_since=AGES_AGO)

    def define(
        self, function: Callable[..., Any], name: str = "job", **options: Any
    ) -> TaskDefinition:
        made = define_task(
            function,
            TaskOptions(name=name, **options),
            {},
            codec=self.codec,
            config=self.config,
            registry=self.registry,
        )
        assert isinstance(made, TaskDefinition), made
        self.registry.add(made)
        return made

    async def report(
        self, task: Task, outcome: Outcome, result: bytes | None = None, detail: str | None = None
    ) -> set[Claim]:
        """Settle one run; the claims that were lost."""
        async with self.unit_of_work() as tx:
            return set(await self.judge_runs(tx, [RunReport(task, outcome, result, detail)]))

    async def run_once(self, outcome: Outcome, result: bytes | None = None, **claim: Any) -> Task:
        """Claim the next task and end its run so; the task afterwards."""
        await self.promote()
        task = await self.claim_one(**claim)
        assert await self.report(task, outcome, result) == set()
        return await self.find(task.id)

    async def cancel(self, task: Task) -> None:
        async with self.unit_of_work() as tx:
            await tx.tasks.cancel([task.id])

    async def attempts(self, task: Task) -> list[Attempt]:
        async with self.unit_of_work() as tx:
            return list(await tx.archive.attempts(task.id))

    async def pending_names(self) -> list[str]:
        """What waits in the queue, claimed and given back."""
        claimed = await self.claim(start=False)
        async with self.unit_of_work() as tx:
            await tx.tasks.release([task.claim for task in claimed])
        return [task.name for task in claimed]

    def error(self, result: bytes | None) -> TaskError:
        assert result is not None
        return self.codec.decode_untyped(result).err_value

    def failed(self, code: str = "BOOM") -> bytes:
        """What a task leaves that returned an error."""
        return self.codec.encode_error(TaskError(code, "it went wrong"))


def bench(config: AppConfig | None = None) -> Bench:
    clock = VirtualClock(START)
    engine = MemoryEngine(clock)
    return Bench(
        engine.unit_of_work,
        engine.inbox,
        engine.completions,
        engine.completer,
        clock,
        VirtualIds(clock),
        config or AppConfig(),
    )


def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    return TaskResult(ok=x + y)
