"""What the core costs: whole lives (send, claim, perform, settle) on the in-memory engine.

python benchmarks/memory_lives.py [COUNT]
"""

import sys
from time import perf_counter

from horsies import Horsies, TaskError, TaskResult

app = Horsies()


@app.task("noop")
def noop(number: int, who: str) -> TaskResult[int, TaskError]:
    return TaskResult(ok=number + len(who))


def main(count: int = 100_000) -> None:
    with app.testing() as sandbox:
        begin = perf_counter()
        for number in range(count):
            noop.send(number, who="hello world")
        sent = perf_counter()
        assert sandbox.drain(max_runs=count) == count
        done = perf_counter()
    rows = {
        "send": (sent - begin) / count,
        "claim, perform, settle": (done - sent) / count,
        "whole life": (done - begin) / count,
    }
    print(f"{count} lives in {done - begin:.1f} s on one core, in memory")
    print(f"{'step':<24}{'µs a task':>10}{'tasks/s':>10}")
    for step, seconds in rows.items():
        print(f"{step:<24}{seconds * 1e6:>10.1f}{1 / seconds:>10.0f}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
