"""Putting off the faults of definitions while modules are imported, so that none hides another."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_put_off: ContextVar[bool] = ContextVar("horsies_faults_put_off", default=False)


@contextmanager
def faults_put_off() -> Generator[None]:
    """Inside, an app keeps faulty definitions for `load_tasks` to report instead of raising."""
    token = _put_off.set(True)
    try:
        yield
    finally:
        _put_off.reset(token)


def are_faults_put_off() -> bool:
    return _put_off.get()
