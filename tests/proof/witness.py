"""What runs say of themselves, outside of PostgreSQL: the file that nobody can roll back.

A run holds a lock on a file of its own task for as long as its process lives, so two runs of one
task at the same time are seen by the kernel, however either of them ends.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "WITNESS"
"""The environment variable that leads runs to the file."""


@dataclass(frozen=True, slots=True)
class Line:
    """`word` is begin, end, or overlap: a begin while another run of the same task went on."""

    word: str
    task: str
    pid: int
    seconds: float


@contextmanager
def witnessed(task: str) -> Iterator[None]:
    """Around the body of a task; `task` is a name that no other task of the test has."""
    file = Path(os.environ[VARIABLE])
    lock = os.open(file.with_name(f"{file.name}.{task}"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("overlap", task)
    try:
        _say("begin", task)
        yield
        _say("end", task)
    finally:
        os.close(lock)


def lines_of(file: Path) -> list[Line]:
    found: list[Line] = []
    for line in file.read_text().splitlines():
        word, task, pid, seconds = line.split()
        found.append(Line(word, task, int(pid), float(seconds)))
    return found


def _say(word: str, task: str) -> None:
    """In one write, so that lines of many processes do not mix."""
    file = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{word} {task} {os.getpid()} {time.monotonic()}\n".encode())
    os.close(file)
