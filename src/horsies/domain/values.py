"""What plain values are, said once."""

from datetime import timedelta
from typing import TypeGuard

_LONGEST_SHOWN = 80
_LARGEST_SHOWN = 10**18


def is_whole(value: object) -> TypeGuard[int]:
    """A whole number; `True` is none, although Python counts it as one."""
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value in a message: short, and never by the repr of an unknown object."""
    if isinstance(value, str):
        text = str.__repr__(value)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    if is_whole(value):
        return f"{int(value):_}" if abs(value) < _LARGEST_SHOWN else "a number that large"
    if value is None or isinstance(value, bool | float | timedelta):
        return repr(value)
    return f"a {type(value).__name__}"
