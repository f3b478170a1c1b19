"""What an app puts around the runs of its tasks."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from horsies.application.hrs import Hrs
from horsies.application.source import def_line
from horsies.domain.errors import DefinitionError
from horsies.domain.faults import Fault

if TYPE_CHECKING:
    from horsies.application.context import CurrentTask

MiddlewareT = TypeVar(
    "MiddlewareT",
    bound="Callable[[CurrentTask], Iterator[None]] | Callable[[CurrentTask], AsyncIterator[None]]",
)
LifespanT = TypeVar("LifespanT", bound=Callable[[], AsyncIterator[Any]])

_MIDDLEWARE = "a middleware"
_LIFESPAN = "a lifespan"
_HELP = {
    _MIDDLEWARE: "write `def around(task: CurrentTask) -> Iterator[None]:` with one `yield` in it",
    _LIFESPAN: "write `async def lifespan() -> AsyncIterator[...]:` with one `yield` in it",
}

_Around: TypeAlias = Callable[[Any], AbstractContextManager[None]]
_AroundAsync: TypeAlias = Callable[[Any], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Middleware:
    """One of the two; an async one cannot be around a sync task."""

    sync: _Around | None = None
    asynchronous: _AroundAsync | None = None


@dataclass(slots=True)
class Hooks:
    """Middlewares are in the order in which they were registered: the first is the outermost."""

    app: object = None
    middlewares: list[Middleware] = field(default_factory=list[Middleware])
    lifespan: Callable[[], AbstractAsyncContextManager[Any]] | None = None

    def add_middleware(self, function: Callable[..., Any]) -> None:
        if inspect.isasyncgenfunction(function):
            middleware = Middleware(asynchronous=asynccontextmanager(function))
        elif inspect.isgeneratorfunction(function):
            middleware = Middleware(sync=contextmanager(function))
        else:
            raise _bad(_MIDDLEWARE, "is no generator", function)
        _expect_to_take(function, 1, _MIDDLEWARE)
        self.middlewares.append(middleware)

    def set_lifespan(self, function: Callable[..., Any]) -> None:
        if not inspect.isasyncgenfunction(function):
            raise _bad(_LIFESPAN, "is no async generator", function)
        _expect_to_take(function, 0, _LIFESPAN)
        if self.lifespan is not None:
            raise _bad(_LIFESPAN, "is the second one of this app", function)
        self.lifespan = asynccontextmanager(function)

    def around(self, function: Callable[..., Any], task: "CurrentTask") -> Callable[..., Any]:
        """The function inside the middlewares: what they raise, it raises."""
        if not self.middlewares:
            return function

        def run(**arguments: Any) -> Any:
            with ExitStack() as stack:
                for middleware in self.middlewares:
                    if middleware.sync is not None:
                        stack.enter_context(middleware.sync(task))
                return function(**arguments)

        return run

    def around_async(self, function: Callable[..., Any], task: "CurrentTask") -> Callable[..., Any]:
        if not self.middlewares:
            return function

        async def run(**arguments: Any) -> Any:
            async with AsyncExitStack() as stack:
                for middleware in self.middlewares:
                    if middleware.sync is not None:
                        stack.enter_context(middleware.sync(task))
                    elif middleware.asynchronous is not None:
                        await stack.enter_async_context(middleware.asynchronous(task))
                return await function(**arguments)

        return run


def _expect_to_take(function: Callable[..., Any], count: int, what: str) -> None:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        takes = "the task alone" if count else "no arguments"
        raise _bad(what, f"has to take {takes}", function) from None


def _bad(what: str, why: str, function: object) -> DefinitionError:
    name = cast("str", getattr(function, "__name__", type(function).__name__))
    return DefinitionError(
        [Fault(Hrs.BAD_HOOK, f"{what} {why}: {name!r}", _HELP[what], def_line(function))]
    )
