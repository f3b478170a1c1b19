"""A decorated function: callable as before, and sendable."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload
from uuid import UUID

from horsies.application.definition import TaskDefinition
from horsies.application.send_options import NO_OPTIONS, Call, SendOptions
from horsies.domain.errors import DefinitionError, TaskSendError
from horsies.domain.ids import TaskId
from horsies.domain.result import Err, Ok, TaskError, TaskResult
from horsies.domain.retry import Duration
from horsies.entrypoints.handle import TaskHandle
from horsies.entrypoints.runtime import Runtime, RuntimeSource

if TYPE_CHECKING:
    from horsies.application.usecases.enqueue_tasks import SendResult

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskCall(Generic[P]):
    """Arguments put aside for `send_many`; made by `task.call(...)`."""

    task: str
    call: Call


class Sender(Generic[P, T]):
    """Sends one task with certain options. Each verb throws; its `try_` twin returns a value."""

    def __init__(
        self,
        definition: TaskDefinition | DefinitionError,
        runtime: RuntimeSource,
        options: SendOptions,
    ) -> None:
        self._definition = definition
        self._source = runtime
        self._options = options

    def send(self, *args: P.args, **kwargs: P.kwargs) -> TaskHandle[T]:
        """Enqueue the call; once this returns, the task is durable."""
        runtime = self._source()
        return _one_or_throw(runtime, self._enqueue(runtime, [Call(args, kwargs)]))

    async def send_async(self, *args: P.args, **kwargs: P.kwargs) -> TaskHandle[T]:
        runtime = self._source()
        return _one_or_throw(runtime, await self._enqueue_async(runtime, [Call(args, kwargs)]))

    def try_send(self, *args: P.args, **kwargs: P.kwargs) -> Ok[TaskHandle[T]] | Err[TaskSendError]:
        runtime = self._source()
        return _one(runtime, self._enqueue(runtime, [Call(args, kwargs)]))

    async def try_send_async(
        self, *args: P.args, **kwargs: P.kwargs
    ) -> Ok[TaskHandle[T]] | Err[TaskSendError]:
        runtime = self._source()
        return _one(runtime, await self._enqueue_async(runtime, [Call(args, kwargs)]))

    def schedule(self, delay: Duration, /, *args: P.args, **kwargs: P.kwargs) -> TaskHandle[T]:
        """Send now, run after `delay` (seconds or a timedelta)."""
        return self._delayed(delay).send(*args, **kwargs)

    async def schedule_async(
        self, delay: Duration, /, *args: P.args, **kwargs: P.kwargs
    ) -> TaskHandle[T]:
        return await self._delayed(delay).send_async(*args, **kwargs)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> TaskCall[P]:
        """A call to be sent by `send_many`, with its arguments checked by the type checker."""
        return TaskCall(self.definition.name, Call(args, kwargs))

    def send_many(self, calls: Iterable[TaskCall[P] | Mapping[str, Any]]) -> list[TaskHandle[T]]:
        """Enqueue all of them or none, in one step. A call is `task.call(...)` or keywords."""
        runtime = self._source()
        return _many(runtime, self._enqueue(runtime, [self._as_call(call) for call in calls]))

    async def send_many_async(
        self, calls: Iterable[TaskCall[P] | Mapping[str, Any]]
    ) -> list[TaskHandle[T]]:
        runtime = self._source()
        sent = await self._enqueue_async(runtime, [self._as_call(call) for call in calls])
        return _many(runtime, sent)

    def retry_send(self, error: TaskSendError) -> TaskHandle[T]:
        """Replay a send whose outcome is unknown; it never makes a second task."""
        runtime = self._source()
        return _one_or_throw(runtime, self._replay(runtime, _single(error)))

    async def retry_send_async(self, error: TaskSendError) -> TaskHandle[T]:
        runtime = self._source()
        return _one_or_throw(runtime, await self._replay_async(runtime, _single(error)))

    def retry_send_many(self, error: TaskSendError) -> list[TaskHandle[T]]:
        """The same for a `send_many`."""
        runtime = self._source()
        return _many(runtime, self._replay(runtime, error))

    async def retry_send_many_async(self, error: TaskSendError) -> list[TaskHandle[T]]:
        runtime = self._source()
        return _many(runtime, await self._replay_async(runtime, error))

    def with_options(
        self,
        *,
        queue: str | None = None,
        priority: int | None = None,
        delay: Duration | None = None,
        eta: datetime | None = None,
        good_until: datetime | None = None,
        timeout_ms: int | None = None,
        result_ttl_ms: int | None = None,
        idempotency_key: str | None = None,
        connection: object | None = None,
    ) -> "Sender[P, T]":
        """The same verbs with these options too; they are checked when something is sent."""
        given = SendOptions(
            queue=queue,
            priority=priority,
            delay=delay,
            eta=eta,
            good_until=good_until,
            timeout_ms=timeout_ms,
            result_ttl_ms=result_ttl_ms,
            idempotency_key=idempotency_key,
            connection=connection,
        )
        return Sender(self._definition, self._source, self._options.overridden_by(given))

    def handle(self, task_id: str | UUID) -> TaskHandle[T]:
        """The handle of a task of this type that was sent elsewhere or earlier."""
        return TaskHandle(self._source(), as_task_id(task_id))

    @property
    def definition(self) -> TaskDefinition:
        if isinstance(self._definition, DefinitionError):
            raise self._definition
        return self._definition

    def _enqueue(self, runtime: Runtime, calls: list[Call]) -> "SendResult":
        plan = runtime.enqueue.plan(self.definition, calls, self._options)
        return runtime.enqueue.run(plan, self._options.connection)

    async def _enqueue_async(self, runtime: Runtime, calls: list[Call]) -> "SendResult":
        plan = runtime.enqueue.plan(self.definition, calls, self._options)
        return await runtime.enqueue.run_async(plan, self._options.connection)

    def _replay(self, runtime: Runtime, error: TaskSendError) -> "SendResult":
        connection = self._options.connection
        plan = runtime.enqueue.plan_replay(self._own(error), connection)
        return runtime.enqueue.run(plan, connection)

    async def _replay_async(self, runtime: Runtime, error: TaskSendError) -> "SendResult":
        connection = self._options.connection
        plan = runtime.enqueue.plan_replay(self._own(error), connection)
        return await runtime.enqueue.run_async(plan, connection)

    def _as_call(self, call: object) -> Call:
        if isinstance(call, TaskCall):
            if call.task == self.definition.name:
                return call.call
            raise ValueError(f"this is a call of {call.task!r}, not of {self.definition.name!r}")
        if isinstance(call, Mapping):
            return Call((), cast("Mapping[str, Any]", call))
        raise TypeError(
            f"send_many takes task.call(...) or a mapping of arguments, not {type(call).__name__}"
        )

    def _own(self, error: TaskSendError) -> TaskSendError:
        """An error of another task would give a handle of the wrong type."""
        mine = {self.definition.name, *self.definition.aliases}
        others = {task.name for task in error.tasks} - mine
        if others:
            raise ValueError(f"this error is about {min(others)!r}, not {self.definition.name!r}")
        return error

    def _delayed(self, delay: Duration) -> "Sender[P, T]":
        return self.with_options(delay=delay)


class Task(Sender[P, T]):
    """A task of an app."""

    def __init__(
        self,
        name: str,
        function: Callable[P, Any],
        definition: TaskDefinition | DefinitionError,
        runtime: RuntimeSource,
    ) -> None:
        super().__init__(definition, runtime, NO_OPTIONS)
        self.name = name
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", name)
        self.__qualname__ = getattr(function, "__qualname__", name)
        self.__module__ = getattr(function, "__module__", __name__)
        self.__doc__ = function.__doc__

    def __repr__(self) -> str:
        return f"<task {self.name!r}>"


class SyncTask(Task[P, T]):
    """Calling it runs the function here, with exceptions turned into errors as in a worker."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> TaskResult[T, TaskError]:
        signature(self.__wrapped__).bind(*args, **kwargs)  # a wrong call is the caller's fault
        return self.definition.check(self.definition.run(args, kwargs))


class AsyncTask(Task[P, T]):
    """The same for `async def`."""

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> TaskResult[T, TaskError]:
        signature(self.__wrapped__).bind(*args, **kwargs)  # a wrong call is the caller's fault
        return self.definition.check(await self.definition.run_async(args, kwargs))


class TaskDecorator(Protocol):
    """What `@app.task(...)` does to a function."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, TaskResult[T, TaskError]]], /
    ) -> AsyncTask[P, T]: ...
    @overload
    def __call__(self, function: Callable[P, TaskResult[T, TaskError]], /) -> SyncTask[P, T]: ...


def as_task_id(value: str | UUID) -> TaskId:
    try:
        return TaskId(value if isinstance(value, UUID) else UUID(value))
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"{value!r:.80} is not the id of a task") from error


def _single(error: TaskSendError) -> TaskSendError:
    if len(error.tasks) > 1:
        raise ValueError("this error is about several tasks: use retry_send_many")
    return error


def _one(runtime: Runtime, sent: "SendResult") -> "Ok[TaskHandle[Any]] | Err[TaskSendError]":
    match sent:
        case Ok(ids):
            return Ok(TaskHandle(runtime, ids[0]))
        case Err(error):
            return Err(error)


def _many(runtime: Runtime, sent: "SendResult") -> list[TaskHandle[Any]]:
    match sent:
        case Ok(ids):
            return [TaskHandle(runtime, task_id) for task_id in ids]
        case Err(error):
            raise error


def _one_or_throw(runtime: Runtime, sent: "SendResult") -> TaskHandle[Any]:
    match sent:
        case Ok(ids):
            return TaskHandle(runtime, ids[0])
        case Err(error):
            raise error
