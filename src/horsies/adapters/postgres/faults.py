"""What the driver raises, told in the words of the port: once, here."""

from contextlib import AbstractContextManager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from horsies.domain.errors import BrokerError, BrokerFault

_BY_STATE = {
    "40001": (BrokerFault.CONFLICT, "the transaction met another one"),
    "40P01": (BrokerFault.CONFLICT, "the transaction met another one (deadlock)"),
    "25006": (BrokerFault.READ_ONLY, "the database accepts no writes now: is it a standby?"),
    "55P03": (BrokerFault.BUSY, "a row is held by someone else"),
    "57014": (BrokerFault.BUSY, "a statement took longer than statement_timeout_ms"),
    "25P03": (BrokerFault.CONNECTION, "the transaction was idle for too long"),
    "53100": (BrokerFault.FULL, "the database's disk is full"),
    "53200": (BrokerFault.FULL, "the database is out of memory"),
    "53300": (BrokerFault.FULL, "the database has no connection left"),
    "42P01": (BrokerFault.SCHEMA, "the tables are not there: run `horsies db migrate`"),
    "42703": (BrokerFault.SCHEMA, "the tables are older than this version: `horsies db migrate`"),
    "3F000": (BrokerFault.SCHEMA, "the schema is not there: run `horsies db migrate`"),
    "3D000": (BrokerFault.DENIED, "there is no such database"),
    "42501": (BrokerFault.DENIED, "the database user may not do this"),
}
_BY_CLASS = {
    "08": (BrokerFault.CONNECTION, "the connection to the database was lost"),
    "57": (BrokerFault.CONNECTION, "the database ended the connection"),
    "22": (BrokerFault.REFUSED, "the database cannot hold this value"),
    "23": (BrokerFault.REFUSED, "the database does not allow this row"),
    "28": (BrokerFault.DENIED, "the database does not let this user in"),
    "53": (BrokerFault.FULL, "the database has run out of something"),
    "58": (BrokerFault.FULL, "the database's system failed"),
}


class _Translated:
    """No generator: every send passes through here."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case None:
                pass
            case psycopg.Error() | PoolTimeout() | PoolClosed() | TooManyRequests():
                raise translate(error) from error
            case UnicodeError():
                words = f"this is not text ({error})"
                raise BrokerError(words, fault=BrokerFault.REFUSED) from error
            case _:
                pass


_translated = _Translated()


def translated() -> AbstractContextManager[None]:
    """Around everything that speaks to the database."""
    return _translated


def translate(error: Exception) -> BrokerError:
    if isinstance(error, PoolTimeout | TooManyRequests):
        return BrokerError(
            "no connection to the database came free or could be made in time",
            fault=BrokerFault.BUSY,
        )
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return BrokerError(str(error), fault=BrokerFault.REFUSED)
    if isinstance(error, PoolClosed):
        return BrokerError("this app is closed", fault=BrokerFault.CLOSED)
    return translate_state(
        error.sqlstate if isinstance(error, psycopg.Error) else None,
        str(error),
        lost=isinstance(error, psycopg.OperationalError | psycopg.InterfaceError),
    )


def translate_state(state: str | None, text: str, *, lost: bool) -> BrokerError:
    """For any driver; `lost` says whether its error means a lost connection if it has no state."""
    fault, words = _recognise(state, lost=lost)
    told = text.strip().splitlines()
    return BrokerError(f"{words} ({told[0]})" if told else words, fault=fault)


def is_worth_a_replay(error: psycopg.Error) -> bool:
    """Whether a send was undone, or nobody knows what became of it because the connection broke.

    After a failover another connection may lead to a server that accepts writes.
    """
    repeatable = {BrokerFault.CONNECTION, BrokerFault.CONFLICT, BrokerFault.READ_ONLY}
    return translate(error).fault in repeatable


def _recognise(state: str | None, *, lost: bool) -> tuple[BrokerFault, str]:
    if state is None:
        fault = BrokerFault.CONNECTION if lost else BrokerFault.UNKNOWN
        return fault, "the database cannot be reached" if lost else "the database refused"
    known = _BY_STATE.get(state) or _BY_CLASS.get(state[:2])
    return known or (BrokerFault.UNKNOWN, f"the database refused, {state}")
