"""How PostgreSQL is reached."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from horsies.application.hrs import Hrs
from horsies.application.settings.checks import (
    Readable,
    Rule,
    Settings,
    flag,
    or_none,
    shown,
    text,
    too_low,
    whole,
)
from horsies.application.settings.dsn import UnusableDsnError, mask_dsn, normalise_dsn
from horsies.application.settings.secret import Secret
from horsies.domain.faults import Fault

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")
DSN_HELP = (
    "pass postgresql://user:password@host:5432/dbname, special characters in it"
    " percent-encoded, or libpq's key=value pairs"
)


def _dsn_faults(name: str, value: str | Secret) -> Iterator[Fault]:
    try:
        normalise_dsn(_revealed(value))
    except UnusableDsnError as error:
        yield Fault(Hrs.UNUSABLE_DSN, f"{name} is not a DSN: {error}", DSN_HELP)


def _secret_dsn(value: str | Secret) -> Secret:
    dsn = normalise_dsn(_revealed(value))
    return Secret(dsn, shown=mask_dsn(dsn))


def _revealed(value: str | Secret) -> str:
    return value.reveal() if isinstance(value, Secret) else value


def _schema_faults(name: str, value: str) -> Iterator[Fault]:
    if not _SCHEMA.fullmatch(value):
        yield Fault(
            Hrs.BAD_SCHEMA,
            f"{name} cannot be {shown(value)}",
            "use at most 48 lower-case letters, digits and underscores, no digit first",
        )


DSN = Rule("a DSN", lambda value: isinstance(value, str | Secret), _dsn_faults, _secret_dsn)


@dataclass(frozen=True, kw_only=True)
class PostgresConfig(Settings):
    """One database, and how to speak to it.

    `database_url` is a `postgresql://` URL, libpq's `key=value` pairs, or `embedded:` for the
    project's own server, and is shown without its secrets wherever the config is printed.
    `listen_url` is for LISTEN where `database_url` leads
    to a pooler. `prepare_statements=False` suits poolers in transaction mode, `notify=False` polls
    instead of listening. A statement of Horsies is ended by the server after
    `statement_timeout_ms`, one minute unless told (None: never); user code is not affected.

    >>> PostgresConfig("postgresql://ada:hunter2@db/shop").database_url
    Secret('postgresql://ada:***@db/shop')
    """

    database_url: str | Secret = field(
        kw_only=False, metadata={"rule": DSN, "means": "where the database is; secret"}
    )
    listen_url: str | Secret | None = field(
        default=None,
        metadata={
            "rule": or_none(DSN),
            "means": "another way to it for LISTEN, where the first goes through a pooler; secret",
        },
    )
    schema: str = field(
        default="public",
        metadata={"rule": text(_schema_faults), "means": "the schema that holds the tables"},
    )
    pool_min_size: int = field(
        default=1, metadata={"rule": whole(0, 1_000), "means": "connections kept open"}
    )
    pool_max_size: int = field(
        default=10, metadata={"rule": whole(1, 1_000), "means": "most connections open"}
    )
    statement_timeout_ms: int | None = field(
        default=60_000,
        metadata={"rule": or_none(whole(1)), "means": "when a statement is given up; None: never"},
    )
    keepalives: bool = field(
        default=True, metadata={"rule": flag(), "means": "notice a dead connection by TCP"}
    )
    prepare_statements: bool = field(
        default=True, metadata={"rule": flag(), "means": "off for poolers that do not support it"}
    )
    notify: bool = field(
        default=True,
        metadata={
            "rule": flag(),
            "means": "wake workers and waiters by NOTIFY; without it they poll",
        },
    )

    @property
    def dsn(self) -> str:
        """For the driver alone: it holds the password."""
        return cast("Secret", self.database_url).reveal()

    @property
    def listen_dsn(self) -> str:
        """For the driver alone: it holds the password."""
        return self.dsn if self.listen_url is None else cast("Secret", self.listen_url).reveal()

    def contradictions(self, readable: Readable) -> Iterable[Fault]:
        return too_low(self, readable, "pool_max_size", "pool_min_size")
