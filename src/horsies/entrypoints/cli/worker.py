"""`horsies worker`: run the tasks of an app."""

import logging
import sys
from dataclasses import replace
from typing import Any

import click

from horsies import __version__
from horsies.application.settings.worker import WorkerConfig, served_queues
from horsies.domain.errors import ConfigurationError, FaultsError, HorsiesError
from horsies.entrypoints.app import Horsies
from horsies.entrypoints.logs import LogFormat, configure_logs


def _comma_separated(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (value or "").split(",") if part.strip())


@click.command()
@click.argument("app", metavar="MODULE:APP")
@click.option("--queues", callback=_comma_separated, help="Queues to serve, such as a,b.  [all]")
@click.option("--processes", type=int, help="Child processes; 0 runs tasks in the worker itself.")
@click.option("--concurrency", type=int, help="Async tasks at a time in each child.")
@click.option(
    "--start-method",
    type=click.Choice(["forkserver", "spawn"]),
    help="How children begin; spawn for libraries that do not survive a fork.  [forkserver]",
)
@click.option("--name", help="What operators call this worker.  [host name]")
@click.option("--loglevel", help="DEBUG, INFO, WARNING or ERROR.  [INFO]")
@click.option(
    "--log-format",
    type=click.Choice([form.value for form in LogFormat]),
    default=LogFormat.TEXT.value,
    help="For people, or one JSON object a line.",
)
@click.option("--max-tasks-per-child", type=int, help="Replace a child after so many tasks.")
@click.option("--max-memory-per-child-mb", type=int, help="Replace a child that uses more.")
@click.option("--shutdown-grace-ms", type=int, help="How long running tasks may go on at the end.")
@click.option("--kill-grace-ms", type=int, help="How long a task that is to stop may take.  [5000]")
def worker(app: str, queues: tuple[str, ...], log_format: str, **options: Any) -> None:
    """Run the tasks of an app until SIGTERM or Ctrl-C; a second one does not wait.

    \b
    Examples:
      horsies worker myproject.tasks:app
      horsies worker myproject.tasks:app --processes 8 --queues emails,reports
    """
    from asyncio import run  # noqa: PLC0415 - `--help` loads no loop

    from horsies.entrypoints.locator import find_app  # noqa: PLC0415 - and no app
    from horsies.entrypoints.worker import WorkerProcess  # noqa: PLC0415 - same

    form = LogFormat(log_format)
    try:
        given = {name: value for name, value in options.items() if value is not None}
        config = _config(app_locator=app, queues=queues, **given)
        configure_logs(config.loglevel_number, form)
        found = find_app(app)
        found.load_tasks()
        if config.loglevel_number <= logging.INFO and form is LogFormat.TEXT:
            _banner(found, config)
        run(WorkerProcess(found, config, form).run())
    except FaultsError as error:
        click.echo(error.report(), err=True)
        sys.exit(1)
    except HorsiesError as error:
        click.echo(f"the worker ends: {error}", err=True)
        sys.exit(1)


def _config(**options: Any) -> WorkerConfig:
    """What is wrong with an option stands on the command line, in no source."""
    try:
        return WorkerConfig(**options)
    except ConfigurationError as error:
        plain = ConfigurationError(replace(fault, location=None) for fault in error.faults)
        click.echo(plain.report(), err=True)
        sys.exit(2)


def _banner(app: Horsies, config: WorkerConfig) -> None:
    queues = ", ".join(queue.name for queue in served_queues(app.config, config))
    places = f"{config.processes} processes" if config.processes else "in the worker itself"
    click.echo(
        f"horsies {__version__}  worker {config.name!r}\n"
        f"  app     {config.app_locator} ({len(app.tasks)} tasks)\n"
        f"  queues  {queues}\n"
        f"  runs    {places}, async tasks {config.concurrency} at a time",
        err=True,
    )
