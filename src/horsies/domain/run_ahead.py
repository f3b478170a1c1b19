"""How many short tasks a child may be handed while another still runs in it.

A commit takes longer than many a task. So tasks that are known to be short are handed out in lines,
as long as the predicted work of a line is a few milliseconds.
"""

from collections.abc import Collection

from horsies.domain.task import Terms

MOST_IN_LINE = 1_024
FIRST_REACH = 16
OVERRUN = 10
"""A line whose head runs this many times longer than a whole line should is dissolved."""


def may_wait_in_line(
    name: str, terms: Terms, crashes: int, *, expires: bool, light: Collection[str]
) -> bool:
    """Nothing of such a task depends on when it begins, or on what runs in the same process."""
    return name in light and terms.agreed and terms.timeout is None and not crashes and not expires


def measured(pace: float | None, sample: float) -> float:
    """Seconds a run takes, after one more that took `sample`."""
    return sample if pace is None else pace + 0.5 * (sample - pace)


def is_short(pace: float | None, line_seconds: float) -> bool:
    """Whether at least two fit into a line; what was never measured does not."""
    return pace is not None and 2 * pace <= line_seconds


def room_in_line(queued: int, pace: float, line_seconds: float) -> int:
    """How many more of this pace a line of so many may take."""
    longest = MOST_IN_LINE if pace <= 0 else min(MOST_IN_LINE, int(line_seconds / pace))
    return max(0, longest - queued)


def next_reach(reach: int, wanted: int, taken: int) -> int:
    """How far the next claim may look ahead, after one that wanted so many and took so few.

    Rows behind a task that is not short are locked in vain, so whoever has met one goes on in
    small steps that double.
    """
    if taken < wanted:
        return FIRST_REACH
    return min(MOST_IN_LINE * 64, 2 * reach)
