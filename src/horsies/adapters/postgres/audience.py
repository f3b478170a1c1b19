"""Whether anybody waits for results, so that a busy worker need not tell everybody who listens."""

from time import monotonic

HEARD_FOR_SECONDS = 20.0
"""Whoever waits says so every few seconds."""


class Audience:
    def __init__(self) -> None:
        self._until = 0.0

    @property
    def present(self) -> bool:
        return monotonic() < self._until

    def heard(self) -> None:
        self._until = monotonic() + HEARD_FOR_SECONDS
