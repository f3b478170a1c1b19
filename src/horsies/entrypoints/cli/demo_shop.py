"""The shop of `horsies demo`: its tasks, and a day in their life."""

import os
from datetime import timedelta
from time import perf_counter

import click

from horsies import Horsies, RetryPolicy, TaskError, TaskResult, current_task, gather

app = Horsies("embedded:")
PATIENCE_MS = 60_000


@app.task("resize_image")
def resize_image(image_id: int, width: int = 800) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"image-{image_id}-{width}px.webp")


@app.task("charge_card", retry_policy=RetryPolicy.fixed([0.25, 0.5, 1]))
async def charge_card(order_id: int, cents: int) -> TaskResult[str, TaskError]:
    if current_task().attempt < 3:  # noqa: PLR2004 - the bank is down twice
        raise ConnectionError("the bank does not answer")
    return TaskResult(ok=f"order {order_id}: charged {cents / 100:.2f}")


@app.task("send_reminder")
def send_reminder(email: str) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"reminded {email}")


@app.task("print_label")
def print_label(order_id: int) -> TaskResult[str, TaskError]:
    return TaskResult(
        err=TaskError("OUT_OF_PAPER", f"no label for order {order_id}: tray 2 is empty")
    )


@app.task("read_scan")
def read_scan() -> TaskResult[str, TaskError]:
    os._exit(139)  # a library written in C has had enough


def run() -> None:
    click.echo("Starting the embedded PostgreSQL of this directory (.horsies/) and a worker ...")
    with app, app.running_worker("--processes", "2", "--loglevel", "CRITICAL"):
        _show_results()
        _show_retries()
        _show_delays()
        _show_errors()
        _show_speed()


def _show_results() -> None:
    click.secho("Results come back typed", bold=True)
    handles = resize_image.send_many({"image_id": n} for n in (1, 2, 3))
    for result in gather(handles, PATIENCE_MS):
        click.echo(f"  {result.unwrap()}")


def _show_retries() -> None:
    click.secho("A bank that is down twice: retries after a quarter and half a second", bold=True)
    handle = charge_card.send(order_id=7, cents=1999)
    result = handle.get(PATIENCE_MS)
    info = handle.info()
    for attempt in info.attempts if info else ():
        click.echo(f"  {attempt.finished_at:%H:%M:%S.%f}  {attempt.error or 'succeeded'}")
    click.echo(f"  {result.unwrap()}")


def _show_delays() -> None:
    click.secho("A reminder in half a second, and one that its sender took back", bold=True)
    kept = send_reminder.schedule(timedelta(seconds=0.5), "ada@example.com")
    dropped = send_reminder.schedule(timedelta(days=1), "bob@example.com")
    click.echo(f"  cancel: {dropped.cancel()}")
    click.echo(f"  {kept.get(PATIENCE_MS).unwrap()}")
    click.echo(f"  {dropped.get(PATIENCE_MS).err_value.error_code}")


def _show_errors() -> None:
    click.secho("Errors are values, even that of a task whose process died", bold=True)
    for result in gather([print_label.send(7), read_scan.send()], PATIENCE_MS):
        click.echo(f"  {result.err_value}")


def _show_speed() -> None:
    count = 10_000
    begin = perf_counter()
    gather(resize_image.send_many({"image_id": n} for n in range(count)), PATIENCE_MS)
    seconds = perf_counter() - begin
    click.secho(
        f"{count:,} more tasks, sent, run in two processes and settled durably: "
        f"{count / seconds:,.0f} a second",
        bold=True,
    )
