"""The memory adapter put together."""

from horsies.adapters.memory.completions import MemoryCompletions
from horsies.adapters.memory.state import MemoryState
from horsies.adapters.memory.task_inbox import MemoryTaskInbox
from horsies.adapters.memory.unit_of_work import MemoryUnitOfWork
from horsies.application.ports.clock import Clock


class MemoryEngine:
    """One queue's worth of state and the ports that reach it."""

    def __init__(self, clock: Clock) -> None:
        self.completions = MemoryCompletions()
        state = MemoryState(clock, self.completions.announce)
        self.unit_of_work = MemoryUnitOfWork(state)
        self.inbox = MemoryTaskInbox(state)
