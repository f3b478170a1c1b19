"""Lines whose head runs longer than it should are dissolved: what waits behind goes back.

The results of those before the head are taken from the page: the child, busy, does not send them.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence

from horsies.adapters.execution.child import Child, Held, Use
from horsies.domain.run_ahead import OVERRUN


class Overruns:
    """Looked for while there are lines. `collect` is told of children that may have results."""

    def __init__(
        self,
        children: Callable[[], Collection[Child]],
        line_seconds: float,
        collect: Callable[[Child], None],
        withdraw: Callable[[Child, Sequence[Held]], None],
    ) -> None:
        self._children = children
        self._seconds = OVERRUN * line_seconds
        self._collect = collect
        self._withdraw = withdraw
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        if self._timer is None and any(_is_line(child) for child in self._children()):
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds / 4, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for child in list(self._children()):
            begun = child.page.begun
            head, since = child.head
            if head != begun:
                child.head = (begun, now)
            elif _is_line(child):
                self._collect(child)
                waiting = [held for held in child.held.values() if not child.has_begun(held)]
                if waiting and now - since >= self._seconds:
                    self._withdraw(child, waiting)
        self.watch()


def _is_line(child: Child) -> bool:
    return child.use is Use.LINE and len(child.held) > 1
