"""How far a run says that it has come."""

from dataclasses import dataclass

LONGEST_NOTE = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """`fraction` is from 0 to 1. A note is words for people: whatever it holds, it can be stored.

    >>> Progress.told(0.25, "page 3 of 12")
    Progress(fraction=0.25, note='page 3 of 12')
    """

    fraction: float
    note: str | None = None

    @classmethod
    def told(cls, fraction: float, note: str | None = None) -> "Progress":
        if not 0 <= fraction <= 1:
            raise ValueError(f"progress is a fraction from 0 to 1, not {fraction!r}")
        if note is None:
            return cls(float(fraction))
        storable = str(note).encode("utf-8", "replace").decode().replace("\0", "?")
        return cls(float(fraction), storable[:LONGEST_NOTE])
