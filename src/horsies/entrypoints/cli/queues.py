"""`horsies queues`: how full they are, and which of them stand still."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from horsies.entrypoints.cli.operating import APP, JSON, a_name, operating
from horsies.entrypoints.cli.tables import ago, show, show_json

if TYPE_CHECKING:
    from horsies.application.settings.app import AppConfig
    from horsies.application.usecases.control_queues import QueueState

MAX_NAME_BYTES = 63

_NAME = click.argument("name", callback=a_name(MAX_NAME_BYTES))


@click.group()
def queues() -> None:
    """See the queues, pause and resume them."""


@queues.command("list")
@JSON
@APP
def list_(locator: str | None, *, as_json: bool) -> None:
    """Show the queues that hold tasks, are paused, or are served by a worker.

    With an app, also those that it configures.

    \b
    Examples:
      horsies queues list
      horsies queues list --json
    """
    with operating(locator) as (online, config):
        configured = [] if locator is None else [queue.name for queue in config.queues()]
        now, states = online.run(online.container.queues()(configured))
    if as_json:
        show_json([_as_json(state) for state in states])
        return
    show(
        ("queue", "state", "waiting", "delayed", "claimed", "running", "oldest", "cap", "workers"),
        [_row(state, now) for state in states],
    )


@queues.command()
@_NAME
@APP
def pause(name: str, locator: str | None) -> None:
    """Let nothing be claimed from a queue until it is resumed; sends go on, and so does what runs.

    \b
    Example:
      horsies queues pause emails
    """
    with operating(locator) as (online, _):
        released = online.run(online.container.queues().pause(name))
    click.echo(f"paused {name}; {released} claimed tasks went back")


@queues.command()
@_NAME
@APP
def resume(name: str, locator: str | None) -> None:
    """Let tasks of a queue be claimed again.

    A queue that is configured with max_concurrency=0 stands still all the same, and the command
    exits with 1.

    \b
    Example:
      horsies queues resume emails
    """
    with operating(locator) as (online, config):
        control = online.container.queues()
        was_paused = online.run(control.resume(name))
        _, states = online.run(control())
    click.echo(f"resumed {name}" if was_paused else f"{name} was not paused")
    stopped_by = _stopped_by(name, states, None if locator is None else config)
    if stopped_by:
        click.echo(
            f"{name} still stands: {' and '.join(stopped_by)} max_concurrency=0 for it,"
            " which only the configuration can lift",
            err=True,
        )
        sys.exit(1)


def _stopped_by(name: str, states: "Sequence[QueueState]", app: "AppConfig | None") -> list[str]:
    """Whose configuration says 0."""
    found: list[str] = []
    if app is not None and any(q.name == name and q.max_concurrency == 0 for q in app.queues()):
        found.append("the app has")
    served_by = [each for state in states if state.depth.name == name for each in state.served_by]
    stopped = sum(worker.caps.get(name) == 0 for worker in served_by)
    if stopped:
        found.append(f"{stopped} of {len(served_by)} workers have")
    return found


def _condition(state: "QueueState") -> str:
    if state.depth.paused_at is not None:
        return "paused"
    return "stopped" if state.is_stopped else "open"


def _row(state: "QueueState", now: datetime) -> tuple[str, ...]:
    depth = state.depth
    caps = sorted("none" if cap is None else str(cap) for cap in state.caps)
    return (
        depth.name,
        _condition(state),
        *(str(each) for each in (depth.waiting, depth.delayed, depth.claimed, depth.running)),
        ago(depth.oldest, now),
        ", ".join(caps),
        str(len(state.served_by)),
    )


def _as_json(state: "QueueState") -> dict[str, Any]:
    return {
        **asdict(state.depth),
        "state": _condition(state),
        "caps": sorted(cap for cap in state.caps if cap is not None),
        "workers": sorted(worker.name for worker in state.served_by),
    }
