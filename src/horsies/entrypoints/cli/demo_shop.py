"""The shop of `horsies demo`: its tasks, and a day in their life."""

from datetime import timedelta
from time import perf_counter

import click

from horsies import Horsies, RetryPolicy, TaskError, TaskHandle, TaskResult, gather
from horsies.entrypoints.inline import InlineRunner

app = Horsies("embedded:")
_unreliable_attempts: list[int] = []


@app.task("resize_image")
def resize_image(image_id: int, width: int = 800) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"image-{image_id}-{width}px.webp")


@app.task("charge_card", retry_policy=RetryPolicy.fixed([0.25, 0.5, 1]))
async def charge_card(order_id: int, cents: int) -> TaskResult[str, TaskError]:
    _unreliable_attempts.append(order_id)
    if len(_unreliable_attempts) < 3:  # noqa: PLR2004 - the bank is down twice
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


def run() -> None:
    _unreliable_attempts.clear()
    click.echo("Starting the embedded PostgreSQL of this directory (.horsies/) ...")
    with app:
        runner = app.inline_runner()
        _show_results(runner)
        _show_retries(runner)
        _show_delays(runner)
        _show_errors(runner)
        _show_speed(runner)


def _show_results(runner: InlineRunner) -> None:
    click.secho("Results come back typed", bold=True)
    handles = resize_image.send_many({"image_id": n} for n in (1, 2, 3))
    runner.drain()
    for result in gather(handles):
        click.echo(f"  {result.unwrap()}")


def _show_retries(runner: InlineRunner) -> None:
    click.secho("A bank that is down twice: retries after a quarter and half a second", bold=True)
    handle = charge_card.send(order_id=7, cents=1999)
    runner.drain(horizon_seconds=2)
    info = handle.info()
    for attempt in info.attempts if info else ():
        click.echo(f"  {attempt.finished_at:%H:%M:%S.%f}  {attempt.error or 'succeeded'}")
    click.echo(f"  {handle.get().unwrap()}")


def _show_delays(runner: InlineRunner) -> None:
    click.secho("A reminder in half a second, and one that its sender took back", bold=True)
    kept: TaskHandle[str] = send_reminder.schedule(timedelta(seconds=0.5), "ada@example.com")
    dropped = send_reminder.schedule(timedelta(days=1), "bob@example.com")
    click.echo(f"  cancel: {dropped.cancel()}")
    runner.drain(horizon_seconds=2)
    click.echo(f"  {kept.get().unwrap()}")
    click.echo(f"  {dropped.get().err_value.error_code}")


def _show_errors(runner: InlineRunner) -> None:
    click.secho("Errors are values", bold=True)
    handle = print_label.send(7)
    runner.drain()
    click.echo(f"  {handle.get().err_value}")


def _show_speed(runner: InlineRunner) -> None:
    count = 2_000
    begin = perf_counter()
    handles = resize_image.send_many({"image_id": n} for n in range(count))
    runner.drain()
    gather(handles)
    each = (perf_counter() - begin) / count
    click.secho(
        f"{count} more tasks, sent, run and settled durably: {each * 1e6:.0f} µs each", bold=True
    )
