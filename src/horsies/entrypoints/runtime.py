"""The use cases behind the facade, ready to be called."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:  # loaded with the container, when something is first sent
    from horsies.application.usecases.await_results import AwaitResults
    from horsies.application.usecases.cancel_tasks import CancelTasks
    from horsies.application.usecases.enqueue_tasks import EnqueueTasks
    from horsies.application.usecases.inspect_tasks import InspectTasks
    from horsies.application.usecases.retry_task import RetryTask

T = TypeVar("T")


class RunSync(Protocol):
    """How a coroutine is run for a caller that is not async."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T: ...


class RunAsync(Protocol):
    """Where a coroutine is run for a caller that awaits it: here, or on the engine's loop."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> Coroutine[Any, Any, T]: ...


@dataclass(frozen=True, slots=True)
class Runtime:
    enqueue: "EnqueueTasks"
    await_results: "AwaitResults"
    inspect: "InspectTasks"
    cancel: "CancelTasks"
    retry: "RetryTask"
    run_sync: RunSync
    run_async: RunAsync


RuntimeSource = Callable[[], Runtime]
