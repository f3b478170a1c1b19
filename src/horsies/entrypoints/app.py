"""`Horsies`: the application, its tasks, and the way to send them."""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import UUID

from horsies.adapters.codec.msgspec_codec import MsgspecCodec
from horsies.application.define_task import TaskOptions, bare_decorator, define_task
from horsies.application.definition import TaskDefinition
from horsies.application.hooks import LifespanT, MiddlewareT
from horsies.application.registry import TaskRegistry
from horsies.application.send_options import SendGate
from horsies.application.settings.app import AppConfig
from horsies.application.source import def_line
from horsies.domain.errors import DefinitionError
from horsies.domain.faults import Fault
from horsies.domain.result import TaskError
from horsies.domain.retry import RetryPolicy
from horsies.entrypoints.collecting import are_faults_put_off, faults_put_off
from horsies.entrypoints.config import resolve_config
from horsies.entrypoints.forks import remember
from horsies.entrypoints.handle import TaskHandle
from horsies.entrypoints.runtime import Runtime
from horsies.entrypoints.task import AsyncTask, SyncTask, Task, TaskDecorator, as_task_id

if TYPE_CHECKING:
    from horsies.adapters.postgres.engine import PostgresEngine
    from horsies.application.settings.worker import WorkerConfig
    from horsies.application.usecases.perform_task import PerformTask
    from horsies.entrypoints.broker import PostgresBroker
    from horsies.entrypoints.container import Container
    from horsies.entrypoints.online import Online
    from horsies.entrypoints.testing.sandbox import Sandbox


class Horsies:
    """An application: define tasks with `@app.task`, send them with `task.send(...)`.

    >>> from horsies import Horsies, TaskError, TaskResult
    >>> app = Horsies()
    >>> @app.task("add")
    ... def add(x: int, y: int = 1) -> TaskResult[int, TaskError]:
    ...     return TaskResult(ok=x + y)
    >>> with app.testing():
    ...     add.send(2, y=3).get().unwrap()
    5
    """

    def __init__(self, config: AppConfig | str | None = None) -> None:
        self.config = resolve_config(config)
        self._codec = MsgspecCodec()
        self._registry = TaskRegistry()
        self._gate = SendGate()
        self._modules: list[str] = []
        self._broken: dict[object, tuple[Fault, ...]] = {}
        self._sandbox: Sandbox | None = None
        self._online: Online | None = None
        self._connecting = Lock()
        self.child_hooks: list[Callable[[], object]] = []
        self._registry.hooks.app = self
        remember(self)

    def task(
        self,
        name: str,
        *,
        queue: str | None = None,
        retry_policy: RetryPolicy | None = None,
        idempotent: bool = False,
        timeout_ms: int | None = None,
        result_ttl_ms: int | None = None,
        exception_mapper: Mapping[type[BaseException], str] | None = None,
        default_unhandled_error_code: str | None = None,
        on_failure: "str | Task[[str, TaskError], Any] | None" = None,
        aliases: Sequence[str] = (),
        fresh: bool = False,
    ) -> TaskDecorator:
        """Make a task of a function that returns `TaskResult[T, TaskError]`.

        `idempotent` says that running it again after a crash is safe. `aliases` are former
        names, under which tasks may still be queued. `on_failure` is sent the id and the error
        of a task that failed for good. `fresh` gives each run a process of its own.
        """
        options = TaskOptions(
            name=name,
            queue=queue,
            retry_policy=retry_policy,
            idempotent=idempotent,
            timeout_ms=timeout_ms,
            result_ttl_ms=result_ttl_ms,
            exception_mapper=exception_mapper,
            default_unhandled_error_code=default_unhandled_error_code,
            on_failure=on_failure,
            aliases=_listed(aliases),
            fresh=fresh,
        )
        if callable(name):
            raise bare_decorator(name)

        def decorate(function: Callable[..., Any]) -> Task[..., Any]:
            here = inspect.currentframe()
            outside = here.f_back if here else None
            return self._define(function, options, outside.f_locals if outside else {})

        return cast("TaskDecorator", decorate)

    def discover_tasks(self, modules: Iterable[str]) -> None:
        """Name modules (dotted paths or files) whose tasks belong to this app; calls add up.

        They are imported by `load_tasks`, which a worker calls, so that they may import the app.
        """
        named = [modules] if isinstance(modules, str) else modules
        self._modules += [module for module in named if module not in self._modules]

    def load_tasks(self, modules: Iterable[str] = ()) -> None:
        """Import the discovered modules with sends suppressed; raise all faults together."""
        from horsies.entrypoints.discovery import import_all  # noqa: PLC0415 - producers need it not

        self.discover_tasks(modules)
        with faults_put_off(), self._sends_suppressed():
            faults = import_all(self._modules)
        faults += [fault for broken in self._broken.values() for fault in broken]
        faults += self._registry.check()
        if faults:
            raise DefinitionError(faults)

    def suppress_sends(self, suppressed: bool) -> None:  # noqa: FBT001 - a public switch
        """While True, every send is refused with SEND_SUPPRESSED."""
        self._gate.shut = suppressed

    @property
    def tasks(self) -> tuple[TaskDefinition, ...]:
        """The definitions of all tasks known so far."""
        return tuple(self._registry)

    def handle(self, task_id: str | UUID) -> TaskHandle[Any]:
        """The handle of any task, by its id."""
        return TaskHandle(self._runtime(), as_task_id(task_id))

    def get_broker(self) -> "PostgresBroker":
        """The operator's verbs: migrations, and the recovery of stale tasks by hand."""
        from horsies.entrypoints.broker import PostgresBroker  # noqa: PLC0415 - operators only

        return PostgresBroker(self._connected())

    def on_child_process_start(self, hook: Callable[[], object]) -> Callable[[], object]:
        """Have this called in each child process of a worker, once the app is loaded there."""
        self.child_hooks.append(hook)
        return hook

    def middleware(self, function: MiddlewareT) -> MiddlewareT:
        """Put this around every run, outermost first: a generator with one `yield`, sync or async.

        An async one is around async tasks only. What it raises is the error of the task.
        """
        self._registry.hooks.add_middleware(function)
        return function

    def lifespan(self, function: LifespanT) -> LifespanT:
        """Enter this where tasks run, before the first, and leave it after the last.

        An async generator with one `yield`, once in each child process; what it yields is
        `current_task().state`.
        """
        self._registry.hooks.set_lifespan(function)
        return function

    def run_worker(self, config: "WorkerConfig | None" = None) -> None:
        """Run tasks until SIGTERM or SIGINT."""
        from asyncio import run  # noqa: PLC0415 - import horsies is lean

        run(self.run_worker_async(config))

    async def run_worker_async(self, config: "WorkerConfig | None" = None) -> None:
        """The same on the caller's loop; cancelling it ends the worker at once."""
        from horsies.application.settings.worker import WorkerConfig  # noqa: PLC0415 - same
        from horsies.entrypoints.worker import WorkerProcess  # noqa: PLC0415 - workers only

        await WorkerProcess(self, config or WorkerConfig()).run()

    def running_worker(self, *options: str) -> AbstractContextManager[None]:
        """Inside, a worker runs beside this program; the options are those of `horsies worker`.

        For scripts and tests. The app must be a variable of a module, and a script that starts it
        needs `if __name__ == "__main__":`.
        """
        from horsies.entrypoints.beside import worker_beside  # noqa: PLC0415 - when needed

        return worker_beside(self, options)

    def performer(self) -> "PerformTask":
        """What runs the tasks of this app, in whichever process."""
        return self._connected().container.perform()

    def container(self, config: AppConfig, engine: "PostgresEngine") -> "Container":
        """The use cases on an engine of one's own."""
        from horsies.entrypoints.online import container_on  # noqa: PLC0415 - when needed

        return container_on(config, self._registry, self._codec, self._gate, engine)

    def close(self) -> None:
        """Give back connections and threads. An app that is used again connects again."""
        with self._connecting:
            online = self._online
        if online is not None:
            online.close()

    async def aclose(self) -> None:
        """`close` without holding up the loop."""
        from asyncio import to_thread  # noqa: PLC0415 - import horsies is lean

        await to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def forget_connections(self) -> None:
        """In a forked child the parent's other threads, which may have held this, are gone."""
        self._connecting = Lock()

    @contextmanager
    def testing(self, start: datetime | None = None) -> "Generator[Sandbox]":
        """Put an in-memory engine with a virtual clock in the place of the database."""
        from horsies.entrypoints.testing.sandbox import Sandbox  # noqa: PLC0415 - tests only

        outer = self._sandbox
        sandbox = Sandbox(self.config, self._registry, self._codec, self._gate, start)
        self._sandbox = sandbox
        try:
            yield sandbox
        finally:
            sandbox.close()
            if self._sandbox is sandbox:
                self._sandbox = outer

    def _runtime(self) -> Runtime:
        if self._sandbox is not None:
            return self._sandbox.runtime
        return self._connected().runtime

    def _connected(self) -> "Online":
        with self._connecting:
            if self._online is None:
                from horsies.entrypoints.online import Online  # noqa: PLC0415 - when needed

                self._online = Online(self.config, self._registry, self._codec, self._gate)
            return self._online

    def _define(
        self, function: Callable[..., Any], options: TaskOptions, scope: Mapping[str, Any]
    ) -> Task[..., Any]:
        made = define_task(
            function,
            options,
            scope,
            codec=self._codec,
            config=self.config,
            registry=self._registry,
        )
        place = def_line(function) or function
        if isinstance(made, TaskDefinition):
            self._registry.add(made)
            self._broken.pop(place, None)
            if made.is_async:
                return AsyncTask(made.name, function, made, self._runtime)
            return SyncTask(made.name, function, made, self._runtime)
        if not are_faults_put_off():
            raise DefinitionError(made)
        self._broken[place] = made
        return SyncTask(options.name, function, DefinitionError(made), self._runtime)

    @contextmanager
    def _sends_suppressed(self) -> Generator[None]:
        outer, self._gate.shut = self._gate.shut, True
        try:
            yield
        finally:
            self._gate.shut = outer


def _listed(names: object) -> tuple[Any, ...]:
    """One name or several; what is neither is left for the definition to refuse."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return (names,)
    return tuple(cast("Iterable[Any]", names))
