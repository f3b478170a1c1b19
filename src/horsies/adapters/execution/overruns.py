"""Lines whose head runs longer than it should are dissolved: what waits behind goes back."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from horsies.adapters.execution.child import Child, Held
from horsies.domain.run_ahead import OVERRUN


class Overruns:
    """Looked for while somebody waits behind another."""

    def __init__(
        self,
        children: Callable[[], Collection[Child]],
        line_seconds: float,
        withdraw: Callable[[Child, Sequence[Held]], None],
    ) -> None:
        self._children = children
        self._seconds = OVERRUN * line_seconds
        self._withdraw = withdraw
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        if self._timer is None and any(_waiting(child) for child in self._children()):
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds / 2, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for child in self._children():
            begun = child.page.begun
            head, since = child.head
            if head != begun:
                child.head = (begun, now)
            elif now - since >= self._seconds and (waiting := _waiting(child)):
                self._withdraw(child, waiting)
        self.watch()


def _waiting(child: Child) -> list[Held]:
    """Who stands behind a head that is under way."""
    if len(child.held) < 2:  # noqa: PLR2004 - a head and somebody behind it
        return []
    return [held for held in child.held.values() if not held.is_async and not child.has_begun(held)]
