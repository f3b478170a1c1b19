"""The machine's randomness."""

from random import random


class SystemDice:
    def roll(self) -> float:
        return random()  # noqa: S311 - spreads waits; nothing secret depends on it
