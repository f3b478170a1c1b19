"""Faults in configuration and definitions, told in the manner of a good compiler."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Location(Protocol):
    """A line of the user's source; how it is read is not the domain's business."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, where, and what to do about it."""

    code: str
    message: str
    help: str
    location: Location | None = None
    note: str | None = None

    def render(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        margin = ""
        if self.location is not None:
            number = str(self.location.line)
            margin = " " * len(number)
            lines.append(f"{margin}--> {self.location.file}:{number}")
            if self.location.source:
                lines += [f"{margin} |", f"{number} | {self.location.source}", f"{margin} |"]
        if self.note:
            lines.append(f"{margin} = note: {self.note}")
        lines.append(f"{margin} = help: {self.help}")
        return "\n".join(lines)


def render_report(faults: Sequence[Fault]) -> str:
    """All faults, each in full, and a closing count."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return "\n\n".join([*(fault.render() for fault in faults), f"{count} found"])


def in_source_order(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Sorted as a reader meets them; faults without a place come first."""

    def key(fault: Fault) -> tuple[str, int, str]:
        place = fault.location
        return (place.file, place.line, fault.code) if place else ("", 0, fault.code)

    return tuple(sorted(faults, key=key))
