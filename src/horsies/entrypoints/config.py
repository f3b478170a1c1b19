"""Where an app's configuration comes from when it is not given."""

from collections.abc import Generator

from horsies.application.hrs import Hrs
from horsies.application.settings.app import AppConfig
from horsies.application.settings.checks import raise_any
from horsies.domain.faults import Fault


def resolve_config(config: AppConfig | str | None) -> AppConfig:
    """`Horsies(config)`, `Horsies("postgresql://...")` or `Horsies()`."""
    if config is None:
        return AppConfig()
    if isinstance(config, str):
        return AppConfig.for_database_url(config)
    raise_any(_faults_of(config))
    return config


def _faults_of(config: object) -> Generator[Fault]:
    if not isinstance(config, AppConfig):
        yield Fault(
            Hrs.WRONG_TYPE,
            f"Horsies cannot be configured by a {type(config).__name__}",
            'pass AppConfig(broker=PostgresConfig("postgresql://...")), or a DSN',
        )
