"""How settings are validated: a rule per field, relations between fields, all faults at once."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from horsies.application.hrs import Hrs
from horsies.application.settings.frozen import FrozenMapping
from horsies.application.source import SourceLine, caller
from horsies.domain.errors import ConfigurationError
from horsies.domain.faults import Fault
from horsies.domain.values import is_whole
from horsies.domain.values import shown as plainly_shown

LARGEST = 2**31 - 1
"""What PostgreSQL's integer holds: the upper bound where no other makes sense."""

_LITERAL = re.compile(r"""("{3}|'{3}|"|')(?:\\.|(?!\1).)*(?:\1|\Z)""", re.DOTALL)

Readable: TypeAlias = Callable[..., bool]
"""Whether all the named fields have values of the right type."""


def _no_faults(name: str, value: Any) -> Iterable[Fault]:
    del name, value
    return ()


def _as_given(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Rule:
    """What a field accepts (`kind`, in words), and the form in which it is stored.

    Fields name theirs as `field(metadata={"rule": …, "means": "what it is, for the docs"})`.
    """

    kind: str
    fits: Callable[[Any], bool]
    faults: Callable[[str, Any], Iterable[Fault]] = _no_faults
    stored: Callable[[Any], Any] = _as_given

    def check(self, name: str, value: Any) -> Iterator[Fault]:
        if self.fits(value):
            yield from self.faults(name, value)
        else:
            yield Fault(Hrs.WRONG_TYPE, f"{name} cannot be {given(value)}", f"pass {self.kind}")


@dataclass(frozen=True)
class Settings:
    """The base of every config: nobody gets to hold one that cannot work."""

    def __post_init__(self) -> None:
        found: list[Fault] = []
        unreadable: set[str] = set()
        for item in fields(self):
            rule: Rule = item.metadata["rule"]
            value = getattr(self, item.name)
            faults = list(rule.check(f"{type(self).__name__}.{item.name}", value))
            found += faults
            if not faults:
                object.__setattr__(self, item.name, rule.stored(value))
            elif any(fault.code == str(Hrs.WRONG_TYPE) for fault in faults):
                unreadable.add(item.name)
        found += self.contradictions(lambda *names: unreadable.isdisjoint(names))
        raise_any(found)

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        """Faults that lie between the fields."""
        del readable
        return ()


def raise_any(faults: Iterable[Fault]) -> None:
    """Raise what was found, pointing at the line of the user's code that we were called from."""
    found = tuple(faults)
    if found:
        place = _without_literals(caller())
        raise ConfigurationError(replace(fault, location=place) for fault in found)


def _without_literals(place: SourceLine | None) -> SourceLine | None:
    """A line that configures may well hold a password."""
    return place and replace(place, source=_LITERAL.sub(r"\1...\1", place.source))


def shown(value: object) -> str:
    """A value in a message: never what could be a DSN."""
    if isinstance(value, str) and ("://" in value or "@" in value or "password=" in value.lower()):
        return "what looks like a DSN"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return plainly_shown(value)


def given(value: object) -> str:
    """A value of the wrong type in a message."""
    scalar = isinstance(value, str | int | float)
    return f"{shown(value)} ({type(value).__name__})" if scalar else shown(value)


def too_low(config: Settings, readable: Readable, maximum: str, minimum: str) -> Iterator[Fault]:
    """The fault of a field that must not be below another one."""
    if not readable(maximum, minimum):
        return
    most, least = getattr(config, maximum), getattr(config, minimum)
    if most < least:
        yield Fault(
            Hrs.MAXIMUM_TOO_LOW,
            f"{type(config).__name__}.{maximum} ({most:_}) is below {minimum} ({least:_})",
            f"raise {maximum} to at least {least:_}, or lower {minimum}",
        )


def or_none(rule: Rule) -> Rule:
    return Rule(
        f"{rule.kind}, or None",
        lambda value: value is None or rule.fits(value),
        lambda name, value: () if value is None else rule.faults(name, value),
        lambda value: None if value is None else rule.stored(value),
    )


def whole(low: int, high: int = LARGEST) -> Rule:
    """A whole number; `bool` is none."""
    kind = f"a whole number from {low:_} to {high:_}"

    def faults(name: str, value: int) -> Iterator[Fault]:
        if not low <= value <= high:
            yield Fault(Hrs.OUT_OF_RANGE, f"{name} cannot be {shown(value)}", f"pass {kind}")

    return Rule(kind, is_whole, faults)


def flag() -> Rule:
    return instance_of(bool, "True or False")


def text(faults: Callable[[str, str], Iterable[Fault]] = _no_faults) -> Rule:
    return Rule("a string", lambda value: isinstance(value, str), faults)


def one_of(*choices: str) -> Rule:
    kind = " or ".join(map(repr, choices))

    def faults(name: str, value: str) -> Iterator[Fault]:
        if value not in choices:
            yield Fault(Hrs.OUT_OF_RANGE, f"{name} cannot be {shown(value)}", f"pass {kind}")

    return Rule(kind, lambda value: isinstance(value, str), faults)


def instance_of(cls: type, kind: str | None = None) -> Rule:
    return Rule(kind or f"a {cls.__name__}", lambda value: isinstance(value, cls))


def sequence_of(
    rule: Rule, faults: Callable[[str, Sequence[Any]], Iterable[Fault]] = _no_faults
) -> Rule:
    """A list or tuple, stored as a tuple; `faults` sees it only if all items fit."""

    def all_faults(name: str, items: Sequence[Any]) -> Iterator[Fault]:
        for index, item in enumerate(items):
            yield from rule.check(f"{name}[{index}]", item)
        if all(rule.fits(item) for item in items):
            yield from faults(name, items)

    return Rule(f"a list, each item {rule.kind}", _is_list, all_faults, tuple)


def mapping_of(rule: Rule) -> Rule:
    """A mapping from strings, stored as one that cannot change."""

    def faults(name: str, items: Mapping[Any, Any]) -> Iterator[Fault]:
        for key, value in items.items():
            yield from text().check(f"a key of {name}", key)
            yield from rule.check(f"{name}[{shown(key)}]", value)

    return Rule(
        f"a dict from strings, each value {rule.kind}",
        lambda value: isinstance(value, Mapping),
        faults,
        FrozenMapping,
    )


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
