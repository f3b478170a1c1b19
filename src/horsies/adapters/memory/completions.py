"""Waking waiters: in memory the registry of those who wait is all it takes."""

from horsies.application.watches import Watches


class MemoryCompletions(Watches):
    """`announce` is called with what a transaction has ended, once it is visible to all."""
