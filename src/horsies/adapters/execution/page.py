"""A page of memory that a worker shares with one child.

Through it the worker reaches a child that is busy with the user's code, and learns what only a
dead child could have told.
"""

import mmap
import os
import tempfile
from struct import Struct

_HANDLE = Struct("<q")
_SECONDS = Struct("<d")
_INTERRUPTED, _REVOKED, _CPU_AT_BEGIN = 0, 8, 16
_SIZE = mmap.PAGESIZE
_PULSE = _SIZE - _HANDLE.size


def make_page() -> int:
    """Its file descriptor."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("horsies")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, _SIZE)
    return descriptor


class Page:
    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)

    def interrupt(self, handle: int) -> None:
        _HANDLE.pack_into(self._memory, _INTERRUPTED, handle)

    def is_interrupted(self, handle: int) -> bool:
        return bool(_HANDLE.unpack_from(self._memory, _INTERRUPTED)[0] == handle)

    def revoke(self, last_handle: int) -> None:
        """Nothing up to this handle is to be begun any more."""
        _HANDLE.pack_into(self._memory, _REVOKED, last_handle)

    def is_revoked(self, handle: int) -> bool:
        return bool(handle <= _HANDLE.unpack_from(self._memory, _REVOKED)[0])

    def note_cpu(self, seconds: float) -> None:
        """What the process had used when it began its present run."""
        _SECONDS.pack_into(self._memory, _CPU_AT_BEGIN, seconds)

    @property
    def cpu_at_begin(self) -> float:
        return float(_SECONDS.unpack_from(self._memory, _CPU_AT_BEGIN)[0])

    def note_pulse(self, number: int) -> None:
        _HANDLE.pack_into(self._memory, _PULSE, number)

    @property
    def pulse(self) -> int:
        return int(_HANDLE.unpack_from(self._memory, _PULSE)[0])

    def close(self) -> None:
        self._memory.close()
