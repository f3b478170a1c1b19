"""A value that no repr, log or error shows."""

from typing import final


@final
class Secret:
    """Holds a string and prints as `shown`.

    >>> password = Secret("hunter2")
    >>> f"{password}", password, password.reveal()
    ('***', Secret('***'), 'hunter2')
    """

    __slots__ = ("_shown", "_value")

    def __init__(self, value: str, shown: str = "***") -> None:
        self._value = value
        self._shown = shown

    def reveal(self) -> str:
        return self._value

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Secret({self._shown!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)
