"""`horsies demo`: see the engine at work."""

import click


@click.command()
def demo() -> None:
    """Run real tasks on an embedded PostgreSQL: results, retries, delays, errors.

    \b
    Example:
      horsies demo
    """
    from horsies.entrypoints.cli.demo_shop import run  # noqa: PLC0415 - `--help` loads no engine

    run()
