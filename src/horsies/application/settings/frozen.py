"""A mapping that cannot change."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, final

K = TypeVar("K")
V = TypeVar("V")


@final
class FrozenMapping(Mapping[K, V]):
    """Unlike a MappingProxyType it can be hashed, pickled and copied by `dataclasses.asdict`.

    >>> FrozenMapping({"a": 1})
    {'a': 1}
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (self._items,)
