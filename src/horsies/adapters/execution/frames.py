"""Messages in a stream of bytes: each behind its length."""

from struct import Struct

LENGTH = Struct("<I")


def frame(message: bytes) -> bytes:
    return LENGTH.pack(len(message)) + message


class Unframed:
    """Bytes as they come in, messages as they become whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that these bytes complete."""
        buffer = self._buffer
        buffer += data
        messages: list[bytes] = []
        at = 0
        while len(buffer) - at >= LENGTH.size:
            end = at + LENGTH.size + LENGTH.unpack_from(buffer, at)[0]
            if end > len(buffer):
                break
            messages.append(bytes(buffer[at + LENGTH.size : end]))
            at = end
        del buffer[:at]
        return messages
