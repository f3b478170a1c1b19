"""The shop of `horsies demo`: its tasks, and a day in their life."""

from datetime import timedelta
from time import perf_counter

import click

from horsies import Horsies, RetryPolicy, TaskError, TaskHandle, TaskResult, gather
from horsies.testing import Sandbox

app = Horsies()
_unreliable_attempts: list[int] = []


@app.task("resize_image")
def resize_image(image_id: int, width: int = 800) -> TaskResult[str, TaskError]:
    return TaskResult(ok=f"image-{image_id}-{width}px.webp")


@app.task("charge_card", retry_policy=RetryPolicy.fixed([60, 600, 3600]))
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
    with app.testing() as sandbox:
        _show_results()
        _show_retries(sandbox)
        _show_delays(sandbox)
        _show_errors()
        _show_speed()


def _show_results() -> None:
    click.secho("Results come back typed", bold=True)
    for result in gather(resize_image.send_many({"image_id": n} for n in (1, 2, 3))):
        click.echo(f"  {result.unwrap()}")


def _show_retries(sandbox: Sandbox) -> None:
    click.secho("A bank that is down twice: retries after 1 and 10 minutes", bold=True)
    handle = charge_card.send(order_id=7, cents=1999)
    sandbox.advance(hours=1)
    info = handle.info()
    for attempt in info.attempts if info else ():
        click.echo(f"  {attempt.finished_at:%H:%M:%S}  {attempt.error or 'succeeded'}")
    click.echo(f"  {handle.get().unwrap()}")


def _show_delays(sandbox: Sandbox) -> None:
    click.secho("A reminder for tomorrow, and one that its sender took back", bold=True)
    kept: TaskHandle[str] = send_reminder.schedule(timedelta(days=1), "ada@example.com")
    dropped = send_reminder.schedule(timedelta(days=1), "bob@example.com")
    click.echo(f"  cancel: {dropped.cancel()}")
    sandbox.advance(days=1)
    click.echo(f"  {kept.get().unwrap()}")
    click.echo(f"  {dropped.get().err_value.error_code}")


def _show_errors() -> None:
    click.secho("Errors are values", bold=True)
    click.echo(f"  {print_label.send(7).get().err_value}")


def _show_speed() -> None:
    count = 2_000
    begin = perf_counter()
    gather(resize_image.send_many({"image_id": n} for n in range(count)))
    each = (perf_counter() - begin) / count
    click.secho(f"{count} more tasks, sent, run and settled: {each * 1e6:.0f} µs each", bold=True)
