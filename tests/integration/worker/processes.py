"""Processes as the kernel tells of them."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PATIENCE_SECONDS = 30.0


def until(true: Callable[[], object], what: str, *, patience: float = PATIENCE_SECONDS) -> None:
    """Somebody else's process brings it about."""
    deadline = time.monotonic() + patience
    while not true():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid: int) -> list[int]:
    """All that descend from it."""
    direct: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            direct += map(int, (thread / "children").read_text().split())
    return [*direct, *(each for child in direct for each in children_of(child))]


def command_of(pid: int) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""
