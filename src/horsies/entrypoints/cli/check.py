"""`horsies check`: find every fault of an app before a worker does."""

import sys

import click

from horsies.domain.errors import FaultsError


@click.command()
@click.argument("app", metavar="MODULE:APP")
def check(app: str) -> None:
    """Import an app and all its task modules, and report every fault found.

    Exits with 0 if there is none, with 1 otherwise.

    \b
    Example:
      horsies check myproject.tasks:app
    """
    from horsies.entrypoints.locator import load_app  # noqa: PLC0415 - `--help` loads no app

    try:
        loaded = load_app(app)
    except FaultsError as error:
        click.echo(error.report(), err=True)
        sys.exit(1)
    for definition in loaded.tasks:
        kind = "async" if definition.is_async else "sync"
        click.echo(f"{definition.name}  ({kind}, queue {definition.queue})")
    count = len(loaded.tasks)
    click.echo(f"{count} task{'' if count == 1 else 's'}, no faults")
