"""As much of PostgreSQL's protocol as it takes to follow a conversation."""

import re
import select
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_CHUNK = 65_536
_ENDS_A_BATCH = (b"Q", b"S")
_IDLE = b"Z\x00\x00\x00\x05I"


def query(text: str) -> bytes:
    body = text.encode() + b"\0"
    return b"Q" + struct.pack("!I", len(body) + 4) + body


@dataclass(frozen=True, slots=True)
class Batch:
    """What is sent at once, and answered at once; `text` is all SQL that it stands for."""

    raw: bytes
    text: bytes

    def says(self, words: re.Pattern[bytes]) -> bool:
        return words.search(self.text) is not None


class Speaker:
    """A client and a server, of which one waits for the other."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self._server = server
        self._said = bytearray()
        self._heard = bytearray()
        self._prepared: dict[bytes, bytes] = {}
        self.status = b"?"
        """I: idle, T: in a transaction, E: in one that has failed."""
        self._introduce()

    def batches(self) -> Iterator[Batch]:
        """Until the client hangs up; what the server says in between is passed on."""
        raw, texts = b"", []
        while True:
            message = self._next_said()
            raw += message
            texts += self._texts_of(message)
            kind = message[:1]
            if kind == b"X":
                return
            if kind in _ENDS_A_BATCH:
                yield Batch(raw, b"; ".join(texts))
                raw, texts = b"", []

    def ask(self, raw: bytes) -> bytes:
        """The server's whole answer."""
        self._server.sendall(raw)
        answer = b""
        while True:
            message = self._next_heard()
            answer += message
            if message[:1] == b"Z":
                self.status = message[5:6]
                return answer

    def value(self, raw: bytes) -> str | None:
        """The only value of the only row; notifications that come along are passed on."""
        answer = bytearray(self.ask(raw))
        value = None
        while (message := _take(answer)) is not None:
            if message[:1] == b"D":
                (length,) = struct.unpack("!i", message[7:11])
                value = None if length < 0 else message[11 : 11 + length].decode()
            elif message[:1] == b"A":
                self.client.sendall(message)
        return value

    def tell(self, answer: bytes, *, as_idle: bool = False) -> None:
        self.client.sendall(answer[:-6] + _IDLE if as_idle else answer)

    def _introduce(self) -> None:
        """The first message has no type; the answer to it ends as all answers do."""
        while len(self._said) < 4 or len(self._said) < struct.unpack("!I", self._said[:4])[0]:
            self._hear(self.client, self._said)
        raw, self._said = bytes(self._said), bytearray()
        self.tell(self.ask(raw))

    def _next_said(self) -> bytes:
        while (message := _take(self._said)) is None:
            ready, _, _ = select.select([self.client, self._server], [], [])
            if self._server in ready:
                self._hear(self._server, self._heard)
                self.client.sendall(self._heard)
                self._heard.clear()
            if self.client in ready:
                self._hear(self.client, self._said)
        return message

    def _next_heard(self) -> bytes:
        while (message := _take(self._heard)) is None:
            self._hear(self._server, self._heard)
        return message

    @staticmethod
    def _hear(line: socket.socket, buffer: bytearray) -> None:
        data = line.recv(_CHUNK)
        if not data:
            raise EOFError
        buffer += data

    def _texts_of(self, message: bytes) -> list[bytes]:
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return [body[:-1]]
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = text
            return [text]
        if kind == b"B":
            _, name, _ = body.split(b"\0", 2)
            return [self._prepared.get(name, b"")]
        return []


def _take(buffer: bytearray) -> bytes | None:
    """The first message, once it is whole."""
    if len(buffer) < 5:
        return None
    end = 1 + struct.unpack("!I", buffer[1:5])[0]
    if len(buffer) < end:
        return None
    message = bytes(buffer[:end])
    del buffer[:end]
    return message
