"""Where an app's configuration comes from when it is not given."""

from horsies.application.settings.app import AppConfig
from horsies.domain.errors import BrokerError


def resolve_config(config: AppConfig | str | None) -> AppConfig:
    """`Horsies(config)`, `Horsies("postgresql://...")` or `Horsies()`."""
    if config is None:
        return AppConfig()
    return AppConfig.for_database_url(config) if isinstance(config, str) else config


def no_backend() -> BrokerError:
    return BrokerError(
        "there is no queue to reach: this version of Horsies runs in memory only, "
        "inside `with app.testing():`"
    )
