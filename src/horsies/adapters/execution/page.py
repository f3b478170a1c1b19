"""A page of memory that a worker shares with one child.

Through it the worker reaches a child that is busy with the user's code, and learns what only a
dead child could have told: what it had begun, and the results that it had not sent yet.
"""

import mmap
import os
import tempfile
from struct import Struct

_HANDLE = Struct("<q")
_SECONDS = Struct("<d")
_RECORDS = Struct("<II")
_INTERRUPTED, _REVOKED, _CPU_AT_BEGIN, _BEGUN, _UNSENT, _PULSE = 0, 8, 16, 24, 32, 40
_HEAD = 64
SIZE = 1 << 20


def make_page() -> int:
    """Its file descriptor."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("horsies")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, SIZE)
    return descriptor


class Page:
    """Handles grow, and runs of one child begin in their order."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)

    def interrupt(self, handle: int) -> None:
        _HANDLE.pack_into(self._memory, _INTERRUPTED, handle)

    def is_interrupted(self, handle: int) -> bool:
        return bool(_HANDLE.unpack_from(self._memory, _INTERRUPTED)[0] == handle)

    def revoke(self, last_handle: int) -> None:
        """Nothing up to this handle is to be begun any more, and nothing revoked before."""
        if not self.is_revoked(last_handle):
            _HANDLE.pack_into(self._memory, _REVOKED, last_handle)

    def is_revoked(self, handle: int) -> bool:
        return bool(handle <= _HANDLE.unpack_from(self._memory, _REVOKED)[0])

    def begin(self, handle: int, cpu_seconds: float) -> None:
        """Whoever begins says so first, and looks then whether it was revoked meanwhile."""
        _SECONDS.pack_into(self._memory, _CPU_AT_BEGIN, cpu_seconds)
        _HANDLE.pack_into(self._memory, _BEGUN, handle)

    @property
    def begun(self) -> int:
        """The last handle that was begun."""
        return int(_HANDLE.unpack_from(self._memory, _BEGUN)[0])

    @property
    def cpu_at_begin(self) -> float:
        """What the process had used when it began its present run."""
        return float(_SECONDS.unpack_from(self._memory, _CPU_AT_BEGIN)[0])

    def note_pulse(self, number: int) -> None:
        _HANDLE.pack_into(self._memory, _PULSE, number)

    @property
    def pulse(self) -> int:
        return int(_HANDLE.unpack_from(self._memory, _PULSE)[0])

    def keep(self, record: bytes) -> bool:
        """Put a record behind those that are not sent yet; False if there is no room."""
        count, length = _RECORDS.unpack_from(self._memory, _UNSENT)
        start = _HEAD + length
        end = start + len(record)
        if end > SIZE:
            return False
        self._memory[start:end] = record
        _RECORDS.pack_into(self._memory, _UNSENT, count + 1, end - _HEAD)
        return True

    def unsent(self) -> tuple[int, bytes]:
        """How many records there are, and the records."""
        count, length = _RECORDS.unpack_from(self._memory, _UNSENT)
        return count, self._memory[_HEAD : _HEAD + length]

    def unsent_meanwhile(self) -> tuple[int, bytes]:
        """The same while the child may be writing: nothing if it has moved between two looks."""
        before = self._state()
        records = self.unsent()
        return records if self._state() == before else (0, b"")

    def _state(self) -> bytes:
        return self._memory[_BEGUN : _UNSENT + _RECORDS.size]

    def sent(self) -> None:
        _RECORDS.pack_into(self._memory, _UNSENT, 0, 0)

    def close(self) -> None:
        self._memory.close()
