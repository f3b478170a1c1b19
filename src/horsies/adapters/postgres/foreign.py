"""What callers' connections and their libraries do, told in our words."""

import psycopg

from horsies.adapters.postgres.faults import translate, translate_state
from horsies.application.ports.task_inbox import UnusableConnectionError
from horsies.domain.errors import HorsiesError

_SYNC = (
    "a psycopg Connection, an SQLAlchemy Session or Connection, or a Django connection or its alias"
)
_ASYNC = (
    "a psycopg AsyncConnection, an SQLAlchemy AsyncSession or AsyncConnection,"
    " or a Django connection or its alias"
)
_TRANSACTION_HAS_FAILED = "25P02"


def unusable(connection: object, why: str) -> UnusableConnectionError:
    """Only the type is named: what was given may hold a password."""
    return UnusableConnectionError(f"connection= cannot use this {_name(connection)}: {why}")


def unknown_to_sync(connection: object) -> UnusableConnectionError:
    return unusable(connection, f"send and send_many take {_SYNC}")


def unknown_to_async(connection: object) -> UnusableConnectionError:
    return unusable(connection, f"send_async and send_many_async take {_ASYNC}")


def needs_async_verb(connection: object) -> UnusableConnectionError:
    return unusable(
        connection, "it is asynchronous, so use send_async, or the async form of what you called"
    )


def needs_sync_verb(connection: object) -> UnusableConnectionError:
    return unusable(
        connection, "it would block the event loop, so use send or the other sync forms"
    )


def is_after_a_failure(connection: object) -> UnusableConnectionError:
    return unusable(connection, "its transaction has failed before: roll it back first")


def told(connection: object, error: BaseException, *, lost: bool) -> HorsiesError:
    """What a driver has raised beneath another library."""
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if state == _TRANSACTION_HAS_FAILED:
        return is_after_a_failure(connection)
    if isinstance(error, psycopg.Error):
        return translate(error)
    return translate_state(state, str(error), lost=lost)


def _name(connection: object) -> str:
    kind = type(connection)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package} {kind.__name__}"
