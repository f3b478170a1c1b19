"""Where an app's configuration and its database come from when they are not given."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

from horsies.application.hrs import Hrs
from horsies.application.settings.app import AppConfig
from horsies.application.settings.checks import raise_any
from horsies.application.settings.dsn import EMBEDDED, UnusableDsnError, normalise_dsn
from horsies.application.settings.postgres import DSN_HELP, PostgresConfig
from horsies.domain.errors import ConfigurationError
from horsies.domain.faults import Fault

VARIABLES = ("HORSIES_DATABASE_URL", "DATABASE_URL")
EMBEDDED_FOLDER = ".horsies"


def resolve_config(config: AppConfig | str | None) -> AppConfig:
    """`Horsies(config)`, `Horsies("postgresql://...")` or `Horsies()`."""
    if config is None:
        return AppConfig()
    if isinstance(config, str):
        return AppConfig.for_database_url(config)
    raise_any(_faults_of(config))
    return config


def resolve_broker(config: AppConfig) -> PostgresConfig:
    """The database that is given, the one of the environment, or the project's own."""
    if config.broker is not None:
        return config.broker
    for variable in VARIABLES:
        if url := os.environ.get(variable):
            if faults := list(_faults_of_variable(variable, url)):
                raise ConfigurationError(faults)
            return PostgresConfig(url)
    if not _may_embed():
        raise ConfigurationError([_no_database()])
    return PostgresConfig(EMBEDDED)


def is_assumed(config: AppConfig) -> bool:
    """Whether the embedded server is used although nobody asked for it."""
    given = config.broker is not None or any(os.environ.get(name) for name in VARIABLES)
    return not given and os.environ.get("HORSIES_EMBEDDED") != "1"


def embedded_project(broker: PostgresConfig) -> Path | None:
    """The directory of the embedded server, if that is the one to be used."""
    if not broker.dsn.startswith(EMBEDDED):
        return None
    return Path(broker.dsn.removeprefix(EMBEDDED) or ".").resolve()


def _may_embed() -> bool:
    """A service that lost its variable must not send tasks into a private database."""
    asked = os.environ.get("HORSIES_EMBEDDED") == "1"
    return asked or Path(EMBEDDED_FOLDER).is_dir() or sys.stdin.isatty() or sys.stdout.isatty()


def _no_database() -> Fault:
    return Fault(
        Hrs.NO_DATABASE,
        "no database is configured, and without a terminal the embedded one is not assumed",
        'set HORSIES_DATABASE_URL, pass Horsies("postgresql://..."), or for a local server '
        'Horsies("embedded:") or HORSIES_EMBEDDED=1',
    )


def _faults_of_variable(name: str, url: str) -> Generator[Fault]:
    """Said of the variable: no line of code is to blame."""
    try:
        normalise_dsn(url)
    except UnusableDsnError as error:
        yield Fault(Hrs.UNUSABLE_DSN, f"{name} is not a DSN: {error}", DSN_HELP)


def _faults_of(config: object) -> Generator[Fault]:
    if not isinstance(config, AppConfig):
        yield Fault(
            Hrs.WRONG_TYPE,
            f"Horsies cannot be configured by a {type(config).__name__}",
            'pass AppConfig(broker=PostgresConfig("postgresql://...")), or a DSN',
        )
