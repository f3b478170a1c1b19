"""A socket on the worker's loop that never makes anybody wait."""

import asyncio
import socket
from collections.abc import Callable, Sequence

from horsies.adapters.execution.frames import Unframed, frame

_CHUNK = 1 << 18


class Stream:
    """`on_end` is called once, when the other side is gone; what it sent before has been heard."""

    def __init__(
        self,
        line: socket.socket,
        on_message: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        line.setblocking(False)  # noqa: FBT003 - its name
        self._line = line
        self._on_message = on_message
        self._on_end = on_end
        self._unframed = Unframed()
        self._unsent = bytearray()
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(line, self._read)

    def send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        """Messages with file descriptors are small, and nothing unsent may be before them."""
        if not self._open:
            return
        data = frame(message)
        if descriptors:
            socket.send_fds(self._line, [data], descriptors)
            return
        self._unsent += data
        self._write()

    def drain(self) -> None:
        """Hear everything that was sent until now."""
        while self._open and self._read():
            pass

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._line)
            self._loop.remove_writer(self._line)
            self._line.close()

    def _read(self) -> bool:
        try:
            data = self._line.recv(_CHUNK)
        except BlockingIOError:
            return False
        except ConnectionError:  # it died with unread input: that is its end of file
            data = b""
        if not data:
            self.close()
            self._on_end()
            return False
        for message in self._unframed.feed(data):
            self._on_message(message)
        return True

    def _write(self) -> None:
        try:
            sent = self._line.send(self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError:  # it is gone, which reading will tell
            self._unsent.clear()
            sent = 0
        del self._unsent[:sent]
        if self._unsent:
            self._loop.add_writer(self._line, self._write)
        else:
            self._loop.remove_writer(self._line)
