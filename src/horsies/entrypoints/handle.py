"""What a sender keeps: the way to a task's result."""

from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from horsies.domain.cancellation import CancelAnswer
from horsies.domain.errors import BrokerError
from horsies.domain.ids import TaskId
from horsies.domain.result import TaskError, TaskResult
from horsies.entrypoints.runtime import Runtime

if TYPE_CHECKING:
    from horsies.application.usecases.await_results import Ending
    from horsies.application.usecases.inspect_tasks import TaskInfo

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class TaskHandle(Generic[T_co]):
    """A sent task. It can be rebuilt anywhere from its id: `app.handle(task_id)`."""

    __slots__ = ("_final", "_runtime", "task_id")

    def __init__(self, runtime: Runtime, task_id: TaskId) -> None:
        self._runtime = runtime
        self._final: TaskResult[T_co, TaskError] | None = None
        self.task_id = task_id

    def get(self, timeout_ms: int | None = None) -> TaskResult[T_co, TaskError]:
        """Wait for the result. WAIT_TIMEOUT and BROKER_ERROR come as errors and are not kept."""
        if self._final is not None:
            return self._final
        return self._runtime.run_sync(self.get_async(timeout_ms))

    async def get_async(self, timeout_ms: int | None = None) -> TaskResult[T_co, TaskError]:
        if self._final is not None:
            return self._final
        waiting = self._runtime.await_results(self.task_id, _seconds(timeout_ms))
        ending = await self._runtime.run_async(waiting)
        return self.remember(ending)

    def info(self) -> "TaskInfo | None":
        """Status, times, attempts and error; None if the task is not known."""
        return self._runtime.run_sync(self.info_async())

    async def info_async(self) -> "TaskInfo | None":
        return await self._runtime.run_async(self._runtime.inspect(self.task_id))

    def cancel(self) -> CancelAnswer:
        """End it if it has not started; ask it to stop if it runs."""
        return self._runtime.run_sync(self.cancel_async())

    async def cancel_async(self) -> CancelAnswer:
        cancelling = self._runtime.cancel([self.task_id])
        return (await self._runtime.run_async(cancelling))[self.task_id]

    def retry(self) -> "TaskHandle[T_co]":
        """Run an ended task once more, as a new task; this one's history stays."""
        return self._runtime.run_sync(self.retry_async())

    async def retry_async(self) -> "TaskHandle[T_co]":
        retrying = self._runtime.retry(self.task_id)
        return TaskHandle(self._runtime, await self._runtime.run_async(retrying))

    def remember(self, ending: "Ending") -> TaskResult[T_co, TaskError]:
        """Keep a final result, so that it need not be fetched again."""
        if ending.final:
            self._final = ending.result
        return ending.result

    @property
    def kept(self) -> TaskResult[T_co, TaskError] | None:
        """The final result, if it was fetched before."""
        return self._final

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    def __repr__(self) -> str:
        return f"TaskHandle({str(self.task_id)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskHandle) and self.task_id == other.task_id

    def __hash__(self) -> int:
        return hash(self.task_id)


def gather(
    handles: Iterable[TaskHandle[T]], timeout_ms: int | None = None
) -> list[TaskResult[T, TaskError]]:
    """The results of all, in the order of the handles; what is late is a WAIT_TIMEOUT error."""
    listed = list(handles)
    return listed[0].runtime.run_sync(gather_async(listed, timeout_ms)) if listed else []


async def gather_async(
    handles: Iterable[TaskHandle[T]], timeout_ms: int | None = None
) -> list[TaskResult[T, TaskError]]:
    listed = list(handles)
    results: dict[TaskId, TaskResult[T, TaskError]] = {}
    with suppress(BrokerError):  # what is left then tells of it by itself
        async with aclosing(_as_they_end(listed, timeout_ms)) as endings:
            async for handle, result in endings:
                results[handle.task_id] = result
    late = [handle for handle in listed if handle.task_id not in results]
    for handle in late:
        results[handle.task_id] = await handle.get_async(timeout_ms=0)
    return [results[handle.task_id] for handle in listed]


def as_completed(
    handles: Iterable[TaskHandle[T]], timeout_ms: int | None = None
) -> Generator[TaskHandle[T]]:
    """Each handle when its task has ended; stops without the late ones when the time is up."""
    listed = list(handles)
    if not listed:
        return
    run = listed[0].runtime.run_sync
    endings = _as_they_end(listed, timeout_ms)
    try:
        while ending := run(_next(endings)):
            yield ending[0]
    finally:
        run(_close(endings))


async def as_completed_async(
    handles: Iterable[TaskHandle[T]], timeout_ms: int | None = None
) -> AsyncGenerator[TaskHandle[T]]:
    async with aclosing(_as_they_end(list(handles), timeout_ms)) as endings:
        async for handle, _ in endings:
            yield handle


async def _as_they_end(
    handles: list[TaskHandle[T]], timeout_ms: int | None
) -> AsyncGenerator[tuple[TaskHandle[T], TaskResult[T, TaskError]]]:
    if not handles:
        return
    by_id = {handle.task_id: handle for handle in handles}
    runtime = handles[0].runtime
    if any(handle.runtime is not runtime for handle in handles):
        raise ValueError("these handles come from different apps or sandboxes: wait for each apart")
    for handle in by_id.values():
        if handle.kept is not None:
            yield handle, handle.kept
    unknown = [task_id for task_id, handle in by_id.items() if handle.kept is None]
    endings = runtime.await_results.as_they_end(unknown, _seconds(timeout_ms))
    try:
        while found := await runtime.run_async(_next(endings)):
            task_id, ending = found
            handle = by_id[task_id]
            yield handle, handle.remember(ending)
    finally:
        await runtime.run_async(_close(endings))


async def _next(endings: AsyncGenerator[T]) -> T | None:
    return await anext(endings, None)


async def _close(endings: AsyncGenerator[Any]) -> None:
    await endings.aclose()


def _seconds(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else timeout_ms / 1000
