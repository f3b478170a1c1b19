"""Transactions that met another one: nothing of them was kept, so they are done once more."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from horsies.domain.errors import BrokerError, BrokerFault

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 3


def redone_after_conflicts(
    act: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """For use cases that are one transaction from beginning to end."""

    @wraps(act)
    async def carry_out(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return await act(*args, **kwargs)
            except BrokerError as error:
                if error.fault is not BrokerFault.CONFLICT:
                    raise
        return await act(*args, **kwargs)

    return carry_out
