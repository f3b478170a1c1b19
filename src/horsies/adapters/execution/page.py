"""A page of memory that a worker shares with one child.

Through it the worker reaches a child that is busy with the user's code, and learns what only a
dead child could have told: what it had begun, and the results that it had not sent yet.
"""

import mmap
import os
import tempfile

_INTERRUPTED, _REVOKED, _CPU_AT_BEGIN, _BEGUN, _UNSENT, _PULSE = range(6)
"""Words of eight bytes. Each is written at once: who looks, or dies, in between sees no half."""

_COUNT_BITS = 32
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
        head = memoryview(self._memory)[:_HEAD]
        self._words = head.cast("q")
        self._seconds = head.cast("d")

    def interrupt(self, handle: int) -> None:
        self._words[_INTERRUPTED] = handle

    def is_interrupted(self, handle: int) -> bool:
        return self._words[_INTERRUPTED] == handle

    def revoke(self, last_handle: int) -> None:
        """Nothing up to this handle is to be begun any more, and nothing revoked before."""
        if not self.is_revoked(last_handle):
            self._words[_REVOKED] = last_handle

    def is_revoked(self, handle: int) -> bool:
        return handle <= self._words[_REVOKED]

    def begin(self, handle: int, cpu_seconds: float) -> None:
        """Whoever begins says so first, and looks then whether it was revoked meanwhile."""
        self._seconds[_CPU_AT_BEGIN] = cpu_seconds
        self._words[_BEGUN] = handle

    @property
    def begun(self) -> int:
        """The last handle that was begun."""
        return self._words[_BEGUN]

    @property
    def cpu_at_begin(self) -> float:
        """What the process had used when it began its present run."""
        return self._seconds[_CPU_AT_BEGIN]

    def note_pulse(self, number: int) -> None:
        self._words[_PULSE] = number

    @property
    def pulse(self) -> int:
        return self._words[_PULSE]

    def keep(self, record: bytes) -> bool:
        """Put a record behind those that are not sent yet; False if there is no room."""
        length, count = divmod(self._words[_UNSENT], 1 << _COUNT_BITS)
        start = _HEAD + length
        end = start + len(record)
        if end > SIZE:
            return False
        self._memory[start:end] = record
        self._words[_UNSENT] = (end - _HEAD) << _COUNT_BITS | (count + 1)
        return True

    def unsent(self) -> tuple[int, bytes]:
        """How many records there are, and the records."""
        length, count = divmod(self._words[_UNSENT], 1 << _COUNT_BITS)
        return count, self._memory[_HEAD : _HEAD + length]

    def unsent_meanwhile(self) -> tuple[int, bytes]:
        """The same while the child may be writing: nothing if it has moved between two looks."""
        before = self._state()
        records = self.unsent()
        return records if self._state() == before else (0, b"")

    def _state(self) -> tuple[int, int]:
        return self._words[_BEGUN], self._words[_UNSENT]

    def sent(self) -> None:
        self._words[_UNSENT] = 0

    def close(self) -> None:
        self._words.release()
        self._seconds.release()
        self._memory.close()
