"""Measure Horsies, alone or beside other queues, on a durable PostgreSQL of its own.

python -m benchmarks.run                        every scenario, Horsies alone
python -m benchmarks.run drain_sync latency     some of them
python -m benchmarks.run --peers --rounds 5     beside the peers (`make bench-peers` installs them)
python -m benchmarks.run --list                 what there is
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.contest import Bench
from benchmarks.harness.entrants import PEERS, PROTOTYPE, Entrant
from benchmarks.harness.environment import installed
from benchmarks.harness.plot import plot
from benchmarks.harness.programs import ProgramError
from benchmarks.harness.report import Line, footnotes, table, write_json
from benchmarks.harness.stage import Stage, stage
from benchmarks.scenarios.catalogue import MINUTES, SCENARIOS

PLOTTED = "drain_sync"


def main() -> None:
    chosen = _arguments()
    if chosen.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:<20}{(scenario.__doc__ or '').splitlines()[0]}")
        return
    versions = installed() if chosen.peers else {}
    with stage(redis=chosen.peers) as here:
        bench = Bench(
            here,
            _entrants(chosen, versions, here),
            rounds=chosen.rounds,
            seconds=chosen.seconds,
            tasks=chosen.tasks,
            beside=chosen.beside,
        )
        server = here.told_settings()
        lines: list[Line] = []
        for name in chosen.scenarios or _all_of(chosen):
            print(f"{name}: {(SCENARIOS[name].__doc__ or '').splitlines()[0]}", flush=True)
            try:
                found = SCENARIOS[name](bench)
            except ProgramError as error:
                bench.notes[f"{name} has no figures"] = str(error)
                continue
            lines += found
            if name == PLOTTED and chosen.plot:
                plot(chosen.plot, "No-op tasks a second, 2 processes", found)
    print(f"\n{table(lines)}\n\n{footnotes(server, bench.notes, versions)}")
    if chosen.json:
        write_json(chosen.json, lines, server=server, notes=bench.notes, versions=versions)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], metavar="SCENARIO")
    parser.add_argument("--list", action="store_true", help="name the scenarios, and end")
    parser.add_argument("--peers", action="store_true", help="beside the queues of .venv-peers")
    parser.add_argument("--only", default="", help="of the peers, these, such as pgqueuer,celery")
    parser.add_argument("--prototype", type=Path, help="a script of the prototype, beside them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long a drain is to take")
    parser.add_argument("--tasks", type=int, help="so many tasks in each drain, instead")
    parser.add_argument("--beside", type=int, default=1_000_000, help="rows that are in the way")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--plot", type=Path, help=f"draw {PLOTTED} here, as SVG")
    return parser.parse_args()


def _entrants(
    chosen: argparse.Namespace, versions: dict[str, str], here: Stage
) -> Sequence[Entrant]:
    named = [name for name in chosen.only.split(",") if name]
    found: list[Entrant] = []
    if chosen.prototype:
        found.append(PROTOTYPE.named(PROTOTYPE.name, prototype=str(chosen.prototype.resolve())))
    for peer in PEERS if chosen.peers else ():
        if named and peer.queue not in named:
            continue
        if peer.queue not in versions:
            print(f"{peer.name} is not installed: it is left out.")
        elif peer.queue == "celery" and here.redis is None:
            print("There is no redis-server: Celery is left out.")
        else:
            found.append(peer)
    return found


def _all_of(chosen: argparse.Namespace) -> Sequence[str]:
    return list(SCENARIOS) if chosen.peers else MINUTES


if __name__ == "__main__":
    main()
