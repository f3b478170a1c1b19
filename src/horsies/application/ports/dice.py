"""Randomness, so that the domain needs none of its own."""

from typing import Protocol


class Dice(Protocol):
    def roll(self) -> float:
        """A draw from [0, 1)."""
        ...
