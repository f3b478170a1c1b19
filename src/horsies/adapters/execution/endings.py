"""Ending runs before they end by themselves: asked first where there is hope, then by force."""

import asyncio
from collections.abc import Callable, Sequence

from horsies.adapters.execution.child import Child, End, Held

ASKED_KINDLY = frozenset({End.TIMEOUT, End.CANCEL})

HESITATION_SECONDS = 0.005
"""A run that was revoked is known not to have begun after so long: whoever begins says so first,
and looks then whether it was revoked.
"""


class Endings:
    """`give_up` is told of runs that ended without a word of their child."""

    def __init__(self, grace_seconds: float, give_up: Callable[[Child, Held], None]) -> None:
        self._grace_seconds = grace_seconds
        self._give_up = give_up

    def end(self, child: Child, held: Held, why: End) -> None:
        if held.asked_to_end is None or why not in ASKED_KINDLY:
            held.asked_to_end = why
        if not child.has_begun(held):
            self.withdraw(child, [held])
            return
        if why not in ASKED_KINDLY and not (held.is_async and why is End.LOST):
            child.kill()
            return
        if held.is_ending:  # to ask again would give it more time
            return
        held.is_ending = True
        child.ask_to_end(held)
        held.set_timer(self._grace_seconds, lambda: self._end_by_force(child, held))

    def withdraw(self, child: Child, runs: Sequence[Held]) -> None:
        """Take back what has not begun; all before the last of them goes with it."""
        child.page.revoke(runs[-1].handle)
        asyncio.get_running_loop().call_later(
            HESITATION_SECONDS, self._take_back, child, runs[-1].handle
        )

    def _take_back(self, child: Child, last_handle: int) -> None:
        revoked = [held for handle, held in child.held.items() if handle <= last_handle]
        for held in revoked:
            if not child.has_begun(held):
                self._give_up(child, held)
            elif held.asked_to_end is not None and held.timer is None:
                self.end(child, held, held.asked_to_end)  # it was just quick enough to begin

    def _end_by_force(self, child: Child, held: Held) -> None:
        """Others of its loop are spared if the loop still turns."""
        if not (held.is_async and held.heard):
            child.kill()
            return
        child.leaving = child.stuck = True
        self._give_up(child, held)
