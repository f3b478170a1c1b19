"""Connections that mostly listen: noticing that nobody is there, and not waiting all at once."""

import asyncio
import socket
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from random import random
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection

from horsies.adapters.postgres.rows import Row
from horsies.domain.backoff import spread

T = TypeVar("T")


async def answer(
    connection: AsyncConnection[Row], asking: Coroutine[Any, Any, T], seconds: float
) -> T:
    """What the server says; if it says nothing, hang up.

    The driver meets a timeout or a cancellation by asking the server to cancel the statement, and
    waits for that too. The server that does not answer is what this is about.
    """
    task = asyncio.create_task(asking)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            _hang_up(connection)
            await asyncio.gather(task, return_exceptions=True)
    return task.result()


def spread_seconds(seconds: float) -> float:
    return spread(timedelta(seconds=seconds), roll()).total_seconds()


def roll() -> float:
    return random()  # noqa: S311 - spreads waits; nothing secret depends on it


def _hang_up(connection: AsyncConnection[Row]) -> None:
    """To whoever reads from it the line is dead at once."""
    with (
        suppress(OSError, psycopg.Error),  # it is gone already
        socket.socket(fileno=socket.dup(connection.fileno())) as line,
    ):
        line.shutdown(socket.SHUT_RDWR)
