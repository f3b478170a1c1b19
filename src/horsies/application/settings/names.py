"""What queues, tasks and workers may be called."""

import unicodedata
from collections.abc import Iterator

from horsies.application.settings.checks import shown
from horsies.domain.faults import Fault

MAX_QUEUE_NAME_BYTES = 63
MAX_TASK_NAME_BYTES = 255
MAX_WORKER_NAME_BYTES = 255


def name_faults(name: str, value: str, *, hrs: str, max_bytes: int) -> Iterator[Fault]:
    """What is wrong with a name, told as a fault of the code `hrs`."""
    if reason := why_not_a_name(value, max_bytes):
        yield Fault(
            hrs,
            f"{name} cannot be {shown(value)}: {reason}",
            f"choose a name of 1 to {max_bytes} bytes without control characters",
        )


def why_not_a_name(name: str, max_bytes: int) -> str | None:
    r"""What is wrong with the name; None if nothing is.

    >>> why_not_a_name("emails", 63)
    >>> why_not_a_name("emails\n", 63)
    'it begins or ends with white space'
    """
    if not name:
        return "it is empty"
    if name != name.strip():
        return "it begins or ends with white space"
    kinds = {unicodedata.category(character) for character in name}
    if "Cc" in kinds:
        return "it holds a control character"
    if "Cs" in kinds:
        return "it holds half a surrogate pair, which is not text"
    size = len(name.encode())
    return None if size <= max_bytes else f"it takes {size} bytes, of at most {max_bytes}"
