"""Exception mappers: which error code a raised exception becomes, for an app or for one task."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from horsies.application.settings.checks import given
from horsies.application.settings.frozen import FrozenMapping
from horsies.domain.codes import MAPPABLE_CODES, RESERVED_CODES, known_code
from horsies.domain.faults import Fault


def mapper_faults(name: str, mapper: object, hrs: str) -> Iterator[Fault]:
    """What is wrong with an exception mapper, told as faults of the code `hrs`."""
    if not isinstance(mapper, Mapping):
        help_ = "pass a dict from exception classes to error codes"
        yield Fault(hrs, f"{name} cannot be {given(mapper)}", help_)
        return
    for exception, code in cast("Mapping[Any, Any]", mapper).items():
        if _is_exception_class(exception):
            yield from error_code_faults(f"{name}[{exception.__name__}]", code, hrs)
        else:
            help_ = "map exception classes, such as ValueError"
            yield Fault(hrs, f"a key of {name} cannot be {given(exception)}", help_)


def error_code_faults(name: str, code: object, hrs: str) -> Iterator[Fault]:
    """What is wrong with an error code that exceptions are to become."""
    if not isinstance(code, str) or not code.strip():
        yield Fault(hrs, f"{name} cannot be {given(code)}", "pass a non-empty error code")
    elif code in RESERVED_CODES and code not in MAPPABLE_CODES:
        mappable = " and ".join(sorted(MAPPABLE_CODES))
        yield Fault(
            hrs,
            f"{name} cannot be {code}: Horsies alone writes that code",
            f"choose a code of your own (of the reserved ones {mappable} are allowed)",
        )


def freeze_mapper(
    mapper: Mapping[type[BaseException], str],
) -> FrozenMapping[type[BaseException], str]:
    return FrozenMapping({exception: known_code(code) for exception, code in mapper.items()})


def _is_exception_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)
