"""A worker beside the program that needs one: for scripts, demonstrations and tests of users."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from horsies.domain.errors import HorsiesError
from horsies.entrypoints.app import Horsies
from horsies.entrypoints.locator import locator_of


class WorkerEndedError(HorsiesError):
    """The worker ended before it was told to; what it said is on stderr."""


@contextmanager
def worker_beside(app: Horsies, options: tuple[str, ...]) -> Generator[None]:
    """In a process of its own, as `horsies worker` runs it; stopped in good order at the end."""
    command = [sys.executable, "-m", "horsies", "worker", locator_of(app), *options]
    worker = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - ourselves
    try:
        yield
        if worker.poll() is not None:
            raise WorkerEndedError(f"the worker ended by itself, with code {worker.returncode}")
    finally:
        worker.terminate()
        worker.wait()
