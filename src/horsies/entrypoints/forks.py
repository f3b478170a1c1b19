"""What a forked child must not share with its parent: connections, threads and locks."""

import os
from typing import Protocol
from weakref import WeakSet


class Forgetful(Protocol):
    def forget_connections(self) -> None:
        """Let go of everything that belongs to the parent, without touching it."""
        ...


_holders: WeakSet[Forgetful] = WeakSet()


def remember(holder: Forgetful) -> None:
    _holders.add(holder)


def _forget_all() -> None:
    for holder in tuple(_holders):
        holder.forget_connections()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_all)
