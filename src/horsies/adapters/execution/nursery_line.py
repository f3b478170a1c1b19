"""The worker's hand on its nursery."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from time import monotonic

from horsies.adapters.execution import wire
from horsies.adapters.execution.stream import Stream


class NurseryLine:
    """Starts the nursery, asks it for children and signals, and hears what became of them."""

    def __init__(
        self,
        child_main: str,
        start_method: str,
        on_message: Callable[[wire.FromNursery], None],
        on_end: Callable[[], None],
    ) -> None:
        self._began = monotonic()
        here, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [
                    *(sys.executable, "-m", "horsies.adapters.execution.nursery"),
                    *(str(there.fileno()), child_main, str(os.getpid()), start_method),
                ],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._stream = Stream(here, lambda data: on_message(wire.from_nursery(data)), on_end)

    @property
    def age_seconds(self) -> float:
        return monotonic() - self._began

    @property
    def pid(self) -> int:
        return self._process.pid

    def bear(self, birth: int, setup: bytes, line: socket.socket, page: int) -> None:
        message = wire.encode(wire.Bear(birth, setup))
        self._stream.send(message, [line.fileno(), page])

    def signal(self, birth: int, number: int) -> None:
        self._stream.send(wire.encode(wire.Signal(birth, number)))

    async def close(self) -> None:
        """It ends its children, then itself."""
        self._stream.close()
        await asyncio.to_thread(self._process.wait)
