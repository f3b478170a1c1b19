"""The first ten minutes: define tasks, send them, look at what comes back."""

from dataclasses import dataclass
from datetime import UTC, datetime

from horsies import Horsies, RetryPolicy, TaskError, TaskResult, gather

app = Horsies()
calls_to_the_bank = 0


@dataclass
class Order:
    id: int
    cents: int


@app.task("charge", retry_policy=RetryPolicy.fixed([60, 600]))
async def charge(order: Order) -> TaskResult[str, TaskError]:
    global calls_to_the_bank  # noqa: PLW0603 - the bank of this example fails once
    calls_to_the_bank += 1
    if calls_to_the_bank == 1:
        raise ConnectionError("the bank does not answer")
    return TaskResult(ok=f"charged {order.cents / 100:.2f} for order {order.id}")


@app.task("thumbnail")
def thumbnail(image: str, width: int = 200) -> TaskResult[str, TaskError]:
    if not image.endswith(".png"):
        return TaskResult(err=TaskError("NOT_A_PNG", image))
    return TaskResult(ok=f"{image}@{width}")


def main() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    with app.testing(start=noon) as sandbox:
        handle = charge.send(Order(id=7, cents=1999))
        sandbox.drain()
        info = handle.info()
        assert info is not None
        print(info.status, info.attempt, f"{info.next_retry_at:%H:%M}")

        sandbox.advance(minutes=5)
        print(handle.get().unwrap())

        images = gather(thumbnail.send_many({"image": name} for name in ("a.png", "b.gif")))
        for result in images:
            print(result.ok_value if result.is_ok() else result.err_value)

        later = thumbnail.schedule(3600, "c.png", width=64)
        print(later.get(timeout_ms=0).err_value.error_code)
        sandbox.advance(hours=1)
        print(later.get().unwrap(), f"at {sandbox.now:%H:%M}")


if __name__ == "__main__":
    main()

# Output:
# PENDING 1 12:01
# charged 19.99 for order 7
# a.png@200
# NOT_A_PNG: b.gif
# WAIT_TIMEOUT
# c.png@64 at 13:05
