"""All scenarios by name, and those that make the few minutes of `make bench`."""

from collections.abc import Callable, Sequence

from benchmarks.harness.contest import Bench
from benchmarks.harness.report import Line
from benchmarks.scenarios import cost, drain, enqueue, growth, latency, order

Scenario = Callable[[Bench], Sequence[Line]]

SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        drain.drain_sync,
        drain.drain_async,
        drain.drain_inline,
        drain.slow_tasks,
        order.queues_and_priorities,
        enqueue.bulk_enqueue,
        enqueue.single_enqueue,
        enqueue.many_senders,
        latency.latency,
        cost.load_cost,
        cost.idle,
        drain.two_workers,
        drain.slow_disk,
        growth.history,
        growth.scheduled,
        growth.backlog,
        growth.pinned_horizon,
    )
}
LONG = ("history", "scheduled", "backlog", "pinned_horizon")
MINUTES = tuple(name for name in SCENARIOS if name not in LONG)
