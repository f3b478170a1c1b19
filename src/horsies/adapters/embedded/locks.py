"""Locks on files, which the kernel drops when their holder dies, however it dies."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Hold the lock; other processes and other threads wait for it."""
    handle = _open(path)
    try:
        _flock(handle, "alone")
        yield
    finally:
        # Closing is not enough: a child forked meanwhile holds a copy of the handle.
        _flock(handle, "free")
        os.close(handle)


def take_if_free(path: Path) -> int | None:
    """A handle that holds the lock for as long as any copy of it is open."""
    handle = _open(path)
    if _try_alone(handle):
        return handle
    os.close(handle)
    return None


class Membership:
    """Being one of the users of something, counted by shared locks on one file.

    A forked child inherits a copy of its parent's handle, and with it the parent's own lock. The
    child is no member until it joins by itself, and its leaving never touches the parent's lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._joined_by: int | None = None

    @property
    def joined(self) -> bool:
        return self._handle is not None and self._joined_by == os.getpid()

    def join(self) -> None:
        if self.joined:
            return
        self._forget()
        handle = _open(self._path)
        _flock(handle, "shared")
        self._handle, self._joined_by = handle, os.getpid()

    def leave(self) -> bool:
        """Whether nobody is left; two that leave at once must be kept apart by the caller."""
        was_last = False
        if self.joined and self._handle is not None:
            was_last = _try_alone(self._handle)
            _flock(self._handle, "free")
        self._forget()
        return was_last

    def _forget(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try_alone(handle: int) -> bool:
    try:
        _flock(handle, "alone", wait=False)
    except BlockingIOError:
        return False
    return True


def _flock(handle: int, kind: Literal["shared", "alone", "free"], *, wait: bool = True) -> None:
    import fcntl  # noqa: PLC0415 - Windows has none, and must be told so in our own words

    kinds = {"shared": fcntl.LOCK_SH, "alone": fcntl.LOCK_EX, "free": fcntl.LOCK_UN}
    fcntl.flock(handle, kinds[kind] if wait else kinds[kind] | fcntl.LOCK_NB)
