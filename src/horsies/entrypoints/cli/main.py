"""`horsies`: what can be done from a shell."""

import click

from horsies import __version__
from horsies.entrypoints.cli.check import check
from horsies.entrypoints.cli.database import db
from horsies.entrypoints.cli.demo import demo
from horsies.entrypoints.cli.queues import queues
from horsies.entrypoints.cli.worker import worker
from horsies.entrypoints.cli.workers import resume, suspend, workers


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="horsies")
def main() -> None:
    """Horsies: a task queue and workflow engine for Python on PostgreSQL."""


main.add_command(check)
main.add_command(db)
main.add_command(demo)
main.add_command(queues)
main.add_command(resume)
main.add_command(suspend)
main.add_command(worker)
main.add_command(workers)
