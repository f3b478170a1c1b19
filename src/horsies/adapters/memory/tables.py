"""Tables that remember what they held, so that a transaction can be undone."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Journal:
    """What to restore, newest last."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def record(self, undo: Callable[[], object]) -> None:
        self._undo.append(undo)

    def forget(self) -> None:
        self._undo.clear()

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


class Table(Generic[K, V]):
    """A dictionary of immutable rows. `on_change` keeps indexes true, also while undoing."""

    def __init__(
        self, journal: Journal, on_change: Callable[[V | None, V | None], None] | None = None
    ) -> None:
        self._journal = journal
        self._on_change = on_change
        self._rows: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: K) -> V | None:
        return self._rows.get(key)

    def rows(self) -> Iterator[V]:
        """A snapshot, so that rows may be changed while it is read."""
        return iter(tuple(self._rows.values()))

    def items(self) -> Iterator[tuple[K, V]]:
        return iter(tuple(self._rows.items()))

    def put(self, key: K, row: V) -> None:
        self._replace(key, row)

    def drop(self, key: K) -> None:
        self._replace(key, None)

    def _replace(self, key: K, row: V | None) -> None:
        before = self._rows.get(key)
        self._journal.record(lambda: self._write(key, before))  # first: a signal may come between
        self._write(key, row)

    def _write(self, key: K, row: V | None) -> None:
        before = self._rows.get(key)
        if row is None:
            self._rows.pop(key, None)
        else:
            self._rows[key] = row
        if self._on_change is not None:
            self._on_change(before, row)
