"""What runs tell goes out at once, then no more than the latest of each."""

from queue import SimpleQueue
from threading import Event

from horsies.adapters.execution.reporter import Reporter
from horsies.adapters.execution.wire import Progressed


def test_the_first_goes_out_at_once_and_then_the_latest_of_each_run():
    sent: SimpleQueue[Progressed] = SimpleQueue()
    first_is_out, go_on = Event(), Event()

    def send(message: Progressed) -> None:
        sent.put(message)
        first_is_out.set()
        go_on.wait(30)

    reporter = Reporter(send, rest_seconds=0)
    reporter.tell(Progressed(1, 0.1, None))
    assert first_is_out.wait(30)
    for fraction in (0.2, 0.3, 0.4):
        reporter.tell(Progressed(1, fraction, None))
        reporter.tell(Progressed(2, fraction, "other"))
    go_on.set()
    assert [sent.get(timeout=30) for _ in range(3)] == [
        Progressed(1, 0.1, None),
        Progressed(1, 0.4, None),
        Progressed(2, 0.4, "other"),
    ]
    assert sent.empty()
