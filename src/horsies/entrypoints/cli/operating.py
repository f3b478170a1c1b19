"""What operators' commands share: the way to the database, and how faults are told."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from horsies.domain.errors import BrokerError, FaultsError

if TYPE_CHECKING:
    from horsies.application.settings.app import AppConfig
    from horsies.entrypoints.online import Online

APP = click.option(
    "--app",
    "locator",
    metavar="MODULE:APP",
    help="The app whose database it is.  [HORSIES_DATABASE_URL, DATABASE_URL, embedded]",
)
JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")


@contextmanager
def operating(locator: str | None) -> "Generator[tuple[Online, AppConfig]]":
    """The use cases on the database of an app, or of the environment; faults end the command."""
    try:
        online, config = _online(locator)
        try:
            yield online, config
        finally:
            online.close()
    except FaultsError as error:
        click.echo(error.report(), err=True)
        sys.exit(1)
    except BrokerError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


def a_name(max_bytes: int) -> Callable[[click.Context, click.Parameter, str], str]:
    """Checks a name that is given as an argument."""
    return partial(_checked, max_bytes)


def _checked(max_bytes: int, _: click.Context, __: click.Parameter, name: Any) -> Any:
    from horsies.application.settings.names import why_not_a_name  # noqa: PLC0415 - lean

    if name is not None and (reason := why_not_a_name(name, max_bytes)):
        raise click.BadParameter(reason)
    return name


def _online(locator: str | None) -> "tuple[Online, AppConfig]":
    from horsies.adapters.codec.msgspec_codec import MsgspecCodec  # noqa: PLC0415 - lean
    from horsies.application.registry import TaskRegistry  # noqa: PLC0415 - lean
    from horsies.application.send_options import SendGate  # noqa: PLC0415 - lean
    from horsies.entrypoints.config import resolve_config  # noqa: PLC0415 - lean
    from horsies.entrypoints.online import Online  # noqa: PLC0415 - lean

    if locator is None:
        config = resolve_config(None)
    else:
        from horsies.entrypoints.locator import find_app  # noqa: PLC0415 - lean

        config = find_app(locator).config
    return Online(config, TaskRegistry(), MsgspecCodec(), SendGate()), config
