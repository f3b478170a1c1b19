"""The arguments of a task as a JSON object, holding only those that were given."""

from collections.abc import Mapping, Sequence
from typing import Any

from horsies.adapters.codec.shape import Shape
from horsies.application.ports.codec import Parameter, UnfitValueError


class Calls:
    def __init__(self, parameters: Sequence[Parameter]) -> None:
        required = {p.name: p.annotation for p in parameters if p.required}
        optional = {p.name: p.annotation for p in parameters if not p.required}
        self._shape = Shape(required, optional, lambda name: f"argument '{name}'")
        self._positional = tuple(p.name for p in parameters if not p.keyword_only)
        self._required = required.keys()
        self._known = frozenset(p.name for p in parameters)
        self._signature = f"({', '.join(p.name for p in parameters)})"

    def encode(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        return self._shape.encode(self._bind(args, kwargs))

    def decode(self, payload: bytes) -> dict[str, Any]:
        return self._shape.decode(payload)

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        bound = dict(zip(self._positional, args, strict=False))
        if len(bound) < len(args):
            raise self._misfit(f"{len(args)} positional arguments are too many")
        bound.update(kwargs)
        if len(bound) < len(args) + len(kwargs):
            doubled = next(name for name in self._positional if name in kwargs)
            raise self._misfit(f"argument '{doubled}' is given by position and by name")
        if not bound.keys() <= self._known:
            unknown = next(name for name in bound if name not in self._known)
            raise self._misfit(f"there is no parameter '{unknown}'")
        if not bound.keys() >= self._required:
            missing = next(name for name in self._required if name not in bound)
            raise self._misfit(f"argument '{missing}' is missing")
        return bound

    def _misfit(self, problem: str) -> UnfitValueError:
        return UnfitValueError(f"{problem}: the task takes {self._signature}")
