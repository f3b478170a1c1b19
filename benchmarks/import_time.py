"""What importing Horsies, defining a first task and `horsies --help` cost, in fresh processes.

python benchmarks/import_time.py [RUNS]
"""

import statistics
import subprocess
import sys
from time import perf_counter

IMPORT = "from time import perf_counter as t; b = t(); import horsies; print(t() - b)"
DEFINE = """
from time import perf_counter as t
b = t()
from horsies import Horsies, TaskError, TaskResult
app = Horsies()
@app.task("noop")
def noop(number: int) -> TaskResult[int, TaskError]:
    return TaskResult(ok=number)
print(t() - b)
"""
HELP = "from horsies.entrypoints.cli.main import main; main(['--help'])"


def measured_inside(code: str) -> float:
    """Seconds as the code itself prints them."""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(out.stdout)


def whole_process(code: str) -> float:
    begin = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return perf_counter() - begin


def main(runs: int = 15) -> None:
    rows = {
        "python -c pass": [whole_process("pass") for _ in range(runs)],
        "import horsies": [measured_inside(IMPORT) for _ in range(runs)],
        "a first task": [measured_inside(DEFINE) for _ in range(runs)],
        "horsies --help": [whole_process(HELP) for _ in range(runs)],
    }
    print(f"{'what':<18}{'median ms':>10}{'least ms':>10}")
    for what, seconds in rows.items():
        print(f"{what:<18}{statistics.median(seconds) * 1e3:>10.0f}{min(seconds) * 1e3:>10.0f}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
