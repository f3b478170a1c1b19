"""msgspec's errors as sentences that name arguments, and never quote a value."""

import re
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from horsies.adapters.codec.models import RefusedError
from horsies.application.ports.codec import MismatchError, UnfitValueError

Title: TypeAlias = Callable[[str], str]
"""What to call a field of a payload: "argument 'width'", "the result"."""

_PLACE = re.compile(r"(`key` in )?`\$\.(\w+)(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_QUOTED_VALUE = re.compile(r"(Invalid (?:enum )?value|Object contains unknown field) .*", re.DOTALL)
_MSGSPECS_OWN = ("Encoding objects of type", "Only dicts with", "Exceeds the limit")
_TOO_DEEP = "it contains itself, or is nested too deeply"


def unwritable(error: Exception) -> str:
    match error:
        case RecursionError():
            return _TOO_DEEP
        case UnfitValueError():
            return str(error)
        case TypeError() | ValueError() if str(error).startswith(_MSGSPECS_OWN):
            return str(error)
        case _:  # it may be a user's own exception, whose text may quote what it was about
            return f"{type(error).__name__} was raised while it was encoded"


def unreadable(error: Exception, title: Title) -> UnfitValueError:
    match error:
        case msgspec.ValidationError():
            return _mismatch(error, title)
        case msgspec.DecodeError() | UnicodeDecodeError():
            return UnfitValueError("the payload is not valid JSON")
        case RecursionError():
            return UnfitValueError(f"the payload cannot be read: {_TOO_DEEP}")
        case _:
            return MismatchError(f"a check of a type raised {type(error).__name__}")


def _mismatch(error: msgspec.ValidationError, title: Title) -> UnfitValueError:
    head, _, tail = str(error).rpartition(" - at ")
    if place := _PLACE.fullmatch(tail):
        in_key, name, rest = place.groups()
        where = f"{title(name)}{rest and f', at {rest}'}{', in a key' if in_key else ''}"
        return MismatchError(f"{where}: {_reason(error, head)}")
    if missing := _MISSING.fullmatch(tail):
        return MismatchError(f"{title(missing[1])} is missing")
    return UnfitValueError("the payload is not a JSON object")


def _reason(error: msgspec.ValidationError, head: str) -> str:
    cause = error.__cause__
    if cause is None or isinstance(cause, RefusedError):
        return _QUOTED_VALUE.sub(r"\1", head)
    return f"a check of its type raised {type(cause).__name__}"
