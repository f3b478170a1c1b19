"""The tasks that every queue runs."""

import os
import struct
import time
from pathlib import Path

LINE = struct.Struct("<qd")
PAYLOAD: dict[str, object] = {"who": "hello world", "tags": ["a", "b", "c"]}
"""Besides the number: what a call carries."""


def noop(number: int, who: str, tags: list[str]) -> int:
    return number + len(who) + len(tags)


async def noop_async(number: int, who: str, tags: list[str]) -> int:
    return noop(number, who, tags)


def ten_ms(number: int, who: str, tags: list[str]) -> int:
    time.sleep(0.01)
    return noop(number, who, tags)


_witness = -1


def witness(number: int, who: str, tags: list[str], path: str) -> int:
    """Its first line leaves the instant in a file; the clock is the machine's."""
    global _witness  # noqa: PLW0603 - opened once in each process
    now = time.monotonic()
    if _witness < 0:
        _witness = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(_witness, LINE.pack(number, now))
    return noop(number, who, tags)


def witnessed(path: Path) -> dict[int, float]:
    raw = path.read_bytes() if path.exists() else b""
    return dict(LINE.iter_unpack(raw[: len(raw) // LINE.size * LINE.size]))
