"""`horsies workers`, `suspend` and `resume`: who works, and who is to rest."""

import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from horsies.domain.suspension import EVERYBODY
from horsies.domain.worker import Presence, Worker
from horsies.entrypoints.cli.operating import APP, JSON, a_name, operating
from horsies.entrypoints.cli.tables import ago, memory, show, show_json, span

if TYPE_CHECKING:
    from horsies.application.usecases.control_workers import Roster
    from horsies.application.usecases.ping_workers import Answer, Ping

MAX_NAME_BYTES = 255
LOST_LATELY = timedelta(hours=1)

_COLUMNS = (
    *("name", "state", "host", "pid", "queues", "runs", "holds"),
    *("memory", "cpu", "up", "seen", "version"),
)
_NAME = click.argument("name", callback=a_name(MAX_NAME_BYTES))


@click.group()
def workers() -> None:
    """See the workers, suspend and resume them, and ask who is there.

    A suspended worker claims nothing and gives back what it has not begun; what runs goes on. It
    stays suspended when it is started again under its name.
    """


@workers.command("list")
@click.option("--all", "everybody", is_flag=True, help="Also those that have left.")
@JSON
@APP
def list_(locator: str | None, *, everybody: bool, as_json: bool) -> None:
    """Show the workers that are there, and those that were lost within the hour.

    \b
    Examples:
      horsies workers list
      horsies workers list --json
    """
    with operating(locator) as (online, _):
        roster = online.run(online.container.workers()())
    listed = [each for each in roster.workers if everybody or _is_of_interest(each, roster)]
    if as_json:
        show_json([_as_json(each, roster) for each in listed])
        return
    show(_COLUMNS, [_row(each, roster) for each in listed])
    _tell_of_suspensions(roster)


@workers.command("suspend")
@_NAME
@APP
def suspend_one(name: str, locator: str | None) -> None:
    """Let the workers of one name claim nothing until they are resumed.

    \b
    Example:
      horsies workers suspend mule-3
    """
    with operating(locator) as (online, _):
        control = online.container.workers()
        online.run(control.suspend(name))
        here = _number_here(online.run(control()), name)
    click.echo(f"suspended {name}: {_workers(here)} of that name here")


@workers.command("resume")
@_NAME
@APP
def resume_one(name: str, locator: str | None) -> None:
    """Let the workers of one name claim again.

    \b
    Example:
      horsies workers resume mule-3
    """
    with operating(locator) as (online, _):
        control = online.container.workers()
        online.run(control.resume(name))
        roster = online.run(control())
    if roster.suspensions.everybody:
        click.echo(f"{name} is still suspended, as all are: `horsies resume`", err=True)
        sys.exit(1)
    click.echo(f"resumed {name}: {_workers(_number_here(roster, name))} of that name here")


@workers.command()
@click.argument("name", required=False, callback=a_name(MAX_NAME_BYTES))
@JSON
@APP
def ping(name: str | None, locator: str | None, *, as_json: bool) -> None:
    """Ask the workers, or those of one name, to show that they are there.

    Exits with 1 if one of them does not, or if there is none. A worker without notifications
    shows it with its next beat.

    \b
    Example:
      horsies workers ping
    """
    with operating(locator) as (online, _):
        pinging = online.container.ping()
        asked = online.run(pinging.ask(name))
        _tell_of_the_deaf(asked)
        answers = online.run(pinging.answers(asked))
    if as_json:
        show_json([_answer_as_json(answer) for answer in answers])
    else:
        _show_answers(asked, answers)
    if not answers or any(answer.after is None for answer in answers):
        sys.exit(1)


@click.command()
@APP
def suspend(locator: str | None) -> None:
    """Let no worker claim anything, also none that starts later.

    \b
    Example:
      horsies suspend
    """
    with operating(locator) as (online, _):
        control = online.container.workers()
        online.run(control.suspend(EVERYBODY))
        here = _number_here(online.run(control()))
    click.echo(f"suspended all: {_workers(here)} here")


@click.command()
@APP
def resume(locator: str | None) -> None:
    """Let all workers claim again, also those that were suspended one by one.

    \b
    Example:
      horsies resume
    """
    with operating(locator) as (online, _):
        control = online.container.workers()
        online.run(control.resume_all())
        here = _number_here(online.run(control()))
    click.echo(f"resumed all: {_workers(here)} here")


def _is_of_interest(worker: Worker, roster: "Roster") -> bool:
    presence = worker.presence(roster.at)
    lately = worker.lease_until > roster.at - LOST_LATELY
    return presence is Presence.HERE or (presence is Presence.LOST and lately)


def _state(worker: Worker, roster: "Roster") -> str:
    presence = worker.presence(roster.at)
    return str(worker.state if presence is Presence.HERE else presence)


def _row(worker: Worker, roster: "Roster") -> tuple[str, ...]:
    load = worker.load
    return (
        worker.name,
        _state(worker, roster),
        worker.hostname,
        str(worker.pid),
        ", ".join(worker.queues),
        f"{load.running} of {load.places}",
        str(load.claimed),
        memory(load.gauge.memory_bytes),
        f"{load.gauge.cpu_share:.0%}",
        span(roster.at - worker.started_at),
        ago(worker.beat_at, roster.at),
        worker.versions.horsies or "",
    )


def _as_json(worker: Worker, roster: "Roster") -> dict[str, Any]:
    load = worker.load
    return {
        "id": worker.id,
        "name": worker.name,
        "state": _state(worker, roster),
        "suspended": roster.suspensions.covers(worker.name),
        "hostname": worker.hostname,
        "pid": worker.pid,
        "queues": worker.queues,
        "caps": dict(worker.caps),
        "current_tasks": worker.current,
        "running": load.running,
        "claimed": load.claimed,
        "places": load.places,
        "memory_bytes": load.gauge.memory_bytes,
        "cpu_share": load.gauge.cpu_share,
        "started_at": worker.started_at,
        "beat_at": worker.beat_at,
        "lease_until": worker.lease_until,
        "left_at": worker.left_at,
        "listens": worker.hears,
        "versions": {
            "horsies": worker.versions.horsies,
            "python": worker.versions.python,
            "schema": worker.versions.schema,
        },
    }


def _tell_of_suspensions(roster: "Roster") -> None:
    if roster.suspensions.everybody:
        click.echo("all are suspended: `horsies resume`")
    for name in sorted(roster.suspensions.by_name):
        if not _number_here(roster, name):
            click.echo(f"{name} is suspended, and not here")


def _tell_of_the_deaf(asked: "Ping") -> None:
    deaf = sorted(worker.name for worker in asked.asked if not worker.hears)
    if deaf:
        seconds = asked.patience.total_seconds()
        click.echo(
            f"{', '.join(deaf)}: without notifications;"
            f" waiting for the next beat, at most {seconds:.0f} s",
            err=True,
        )


def _show_answers(asked: "Ping", answers: "Sequence[Answer]") -> None:
    if not answers:
        click.echo("no worker is here", err=True)
    else:
        show(
            ("name", "host", "pid", "answer", "seen"),
            [_answer_row(answer, asked) for answer in answers],
        )
    for worker in asked.lost:
        if worker.lease_until > asked.asked_at - LOST_LATELY:
            click.echo(f"{worker.name} was lost {ago(worker.lease_until, asked.asked_at)}")


def _answer_row(answer: "Answer", asked: "Ping") -> tuple[str, ...]:
    worker = answer.worker
    said = "no answer" if answer.after is None else f"{_milliseconds(answer.after)} ms"
    seen = ago(worker.beat_at, asked.asked_at) if answer.after is None else "now"
    return (worker.name, worker.hostname, str(worker.pid), said, seen)


def _answer_as_json(answer: "Answer") -> dict[str, Any]:
    return {
        "id": answer.worker.id,
        "name": answer.worker.name,
        "hostname": answer.worker.hostname,
        "pid": answer.worker.pid,
        "answered_after_ms": None if answer.after is None else _milliseconds(answer.after),
    }


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def _number_here(roster: "Roster", name: str | None = None) -> int:
    return sum(
        worker.presence(roster.at) is Presence.HERE
        for worker in roster.workers
        if name in {None, worker.name}
    )


def _workers(number: int) -> str:
    return f"{number} worker{'' if number == 1 else 's'}"
