"""Dying with one's parent, and what a dead process has used."""

import ctypes
import os
import select
import signal
import socket
import sys
import threading
from resource import struct_rusage

_PR_SET_PDEATHSIG = 1
_KIBIBYTE = 1 if sys.platform == "darwin" else 1024


def die_with_parent(parent: int) -> None:
    """Linux kills the process with its parent, even one that a library has blocked.

    Elsewhere the end of its line tells it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it was asked for
        os._exit(1)


def peak_memory(usage: struct_rusage) -> int:
    """In bytes: Linux counts in kibibytes."""
    return usage.ru_maxrss * _KIBIBYTE


def die_at_hang_up(line: socket.socket) -> None:
    """A thread ends the process when the other side of the line is gone, whatever runs here."""

    def wait() -> None:
        poll = select.poll()
        poll.register(line, 0)  # nothing but the end of it is waited for
        poll.poll()
        os._exit(1)

    threading.Thread(target=wait, name="horsies-parent-watch", daemon=True).start()
