"""The memory adapter put together."""

from collections.abc import Sequence

from horsies.adapters.memory.completer import MemoryCompleter
from horsies.adapters.memory.completions import MemoryCompletions
from horsies.adapters.memory.state import MemoryState
from horsies.adapters.memory.task_inbox import MemoryTaskInbox
from horsies.adapters.memory.unit_of_work import MemoryUnitOfWork
from horsies.application.ports.clock import Clock
from horsies.domain.task import NewTask


class MemoryEngine:
    """One queue's worth of state and the ports that reach it."""

    def __init__(self, clock: Clock) -> None:
        self.completions = MemoryCompletions()
        self._state = MemoryState(clock, self.completions.announce)
        self.unit_of_work = MemoryUnitOfWork(self._state)
        self.inbox = MemoryTaskInbox(self._state)
        self.completer = MemoryCompleter(self._state)

    @property
    def sent(self) -> Sequence[NewTask]:
        """Every task that has entered so far, in order."""
        return tuple(self._state.sent)
