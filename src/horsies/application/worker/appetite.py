"""How much a worker would claim at this moment, and whether it is worth asking."""

from horsies.application.ports.executor import Capacity
from horsies.application.worker.holdings import Holdings
from horsies.application.worker.tick import Got
from horsies.domain.queue import Room
from horsies.domain.run_ahead import FIRST_REACH, next_reach


class Appetite:
    def __init__(
        self, holdings: Holdings, *, prefetch_buffer: int, max_held: int, max_batch: int
    ) -> None:
        self._holdings = holdings
        self._prefetch_buffer = prefetch_buffer
        self._max_held = max_held
        self._max_batch = max_batch
        self._reach = FIRST_REACH
        self._more = True  # there may be something to claim
        self._blocked = False  # what comes next needs a place of its own

    def wake(self) -> None:
        """There may be something again."""
        self._more = True

    def rooms(
        self, capacity: Capacity, settling: int, *, due: bool
    ) -> tuple[Room | None, Room | None]:
        """For tasks of any kind, and for async ones alone; None where nothing is wanted."""
        place = capacity.free or capacity.only_async
        if not (self._more or due or (self._blocked and place)):
            return None, None
        waiting = len(self._holdings.claimed)
        free = capacity.free - min(capacity.free, waiting)
        in_line = 0 if self._blocked else min(capacity.in_line, self._reach)
        ahead = self._prefetch_buffer
        room = async_room = None
        if free or in_line or waiting < ahead:
            room = self._room(free, settling, ahead, in_line, capacity.light)
        if capacity.only_async:
            async_room = self._room(capacity.only_async, settling)
        return room, async_room

    def note(self, room: Room | None, got: Got) -> None:
        """What the last claim has taught."""
        self._more = not got.exhausted and 0 < got.claimed == got.wanted
        self._blocked = not got.exhausted and got.claimed < got.wanted
        if room is not None and room.in_line and not got.exhausted:
            self._reach = next_reach(self._reach, got.wanted, got.claimed)

    def _room(
        self,
        places: int,
        settling: int,
        ahead: int = 0,
        in_line: int = 0,
        light: frozenset[str] = frozenset(),
    ) -> Room:
        return Room(
            free_slots=places,
            held=len(self._holdings) - settling,
            prefetched=len(self._holdings.claimed),
            prefetch_buffer=ahead,
            max_held=self._max_held,
            max_batch=self._max_batch,
            in_line=in_line,
            light=light,
        )
