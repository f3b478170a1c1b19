"""How long to wait before trying again."""

from datetime import timedelta

JITTER = 0.25
"""Waits are spread by this share to either side, so that many waiters do not come at once."""

_LARGEST_EXPONENT = 32  # beyond it every cap is reached; it keeps the arithmetic finite


def spread(delay: timedelta, jitter: float) -> timedelta:
    """`delay` ± 25 %; `jitter` is a draw from [0, 1), 0.5 leaves it as it is."""
    return delay * (1 - JITTER + 2 * JITTER * jitter)


def exponential(initial: timedelta, failures: int, cap: timedelta, jitter: float) -> timedelta:
    """`initial · 2ⁿ` spread by `jitter` and never above `cap`, n counting from 0."""
    exponent = min(failures, _LARGEST_EXPONENT)
    # Comparing by division: a large initial · 2³² does not fit a timedelta.
    wait = cap if initial > cap // 2**exponent else initial * 2**exponent
    return min(spread(wait, jitter), cap)
