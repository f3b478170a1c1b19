"""Completions in memory. A caller's connection has nothing to commit here: they count at once."""

from horsies.adapters.memory.state import MemoryState
from horsies.application.ports.completer import StillOpen
from horsies.domain.errors import CompletionError, CompletionRefusal
from horsies.domain.outcome import Complete
from horsies.domain.settlement import held
from horsies.domain.task import Claim
from horsies.domain.task_lifecycle import TaskStatus


class MemoryCompleter:
    def __init__(self, state: MemoryState) -> None:
        self._state = state

    def complete(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        del connection
        with self._state.transaction():
            task = held(self._state.live.get(claim.id), claim, TaskStatus.RUNNING)
            if task is None:
                raise CompletionError(self._why_not(claim))
            self._state.write(task.settled(Complete(), self._state.clock.now(), result))
        return lambda: False

    def _why_not(self, claim: Claim) -> CompletionRefusal:
        ended = self._state.history.get(claim.id)
        if ended is None or ended.claim != claim or ended.status is not TaskStatus.COMPLETED:
            return CompletionRefusal.LOST
        return CompletionRefusal.REPEATED

    async def complete_async(self, claim: Claim, result: bytes, connection: object) -> StillOpen:
        return self.complete(claim, result, connection)
