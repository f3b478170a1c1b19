"""The child's end of its line to the worker."""

import os
import socket
import threading

from horsies.adapters.execution import wire
from horsies.adapters.execution.frames import Unframed, frame
from horsies.adapters.execution.page import Page

KEPT_SECONDS = 0.002
"""Results are sent together, as long as none of them has to wait for more than this."""

_CHUNK = 1 << 18


class ChildLine:
    """It waits for messages. What came of a run is kept in the page until it is sent, so it is
    heard of even if the child dies right after.
    """

    def __init__(self, line: socket.socket, page: Page) -> None:
        self._line = line
        self._page = page
        self._unframed = Unframed()
        self._unread: list[wire.ToChild] = []
        self._put_back: list[wire.ToChild] = []
        self._process = os.getpid()
        self._sending = threading.Lock()
        self._kept_since = 0.0

    def receive(self) -> wire.ToChild | None:
        """The next message; None when the worker is gone."""
        self._unread[:0], self._put_back = self._put_back, []
        while not self._unread:
            if not self.read():
                return None
        return self._unread.pop(0)

    def read(self) -> bool:
        data = self._line.recv(_CHUNK)
        self._unread += [wire.to_child(message) for message in self._unframed.feed(data)]
        return bool(data)

    def take(self) -> list[wire.ToChild]:
        unread, self._unread = self._unread, []
        return unread

    def put_back(self, message: wire.ToChild) -> None:
        """For later: it is the next that is received."""
        self._put_back.append(message)

    def send(self, message: wire.FromChild) -> None:
        with self._sending:
            self._line.sendall(frame(wire.encode(message)))

    def record(self, record: wire.Record, now: float) -> None:
        """Sent before long. A copy of the process, which a task has made by a fork and let return,
        must not speak for it.
        """
        if os.getpid() != self._process:
            os._exit(1)
        encoded = wire.encode(record)
        if not self._page.keep(encoded):
            self.flush()
            if not self._page.keep(encoded):  # larger than a page
                self.send(wire.Results([record]))
                return
        if not self._kept_since:
            self._kept_since = now
        elif now - self._kept_since > KEPT_SECONDS:
            self.flush()

    def flush(self) -> None:
        count, records = self._page.unsent()
        if count:
            with self._sending:
                self._line.sendall(frame(wire.results(count, records)))
            self._page.sent()
        self._kept_since = 0.0

    def fileno(self) -> int:
        return self._line.fileno()


def read_unsent(count: int, records: bytes) -> list[wire.Record]:
    """What a page holds: of a dead child, or of one that is too busy to send it."""
    results = wire.from_child(wire.results(count, records))
    return results.records if isinstance(results, wire.Results) else []
