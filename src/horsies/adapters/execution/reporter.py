"""Passing on how far runs have come: at once, then no more than the latest now and then."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import sleep

from horsies.adapters.execution import wire

REST_SECONDS = 0.2


class Reporter:
    """It speaks from a thread of its own, which is there once somebody has something to tell.

    A timeout or a cancel interrupts a task at any of its lines: in the middle of a message it would
    leave half of one behind. The queue is one that bears that.
    """

    def __init__(
        self, send: Callable[[wire.Progressed], None], rest_seconds: float = REST_SECONDS
    ) -> None:
        self._send = send
        self._rest_seconds = rest_seconds
        self._told: SimpleQueue[wire.Progressed] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def tell(self, message: wire.Progressed) -> None:
        self._told.put(message)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._speak, name="horsies-progress", daemon=True
            )
            self._thread.start()

    def _speak(self) -> None:
        while True:
            latest: dict[int, wire.Progressed] = {}
            while not latest or not self._told.empty():
                message = self._told.get()
                latest[message.handle] = message
            for message in latest.values():
                self._send(message)
            sleep(self._rest_seconds)
