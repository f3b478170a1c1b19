"""Starting the programs of a queue, and ending them, by pid and within bounded time."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, TextIO, cast

from benchmarks.harness.entrants import PEERS_VENV, Entrant
from benchmarks.harness.environment import PEERS_PYTHON, ROOT
from benchmarks.harness.stage import Stage
from benchmarks.peers.contract import Setup, Span

VERB_SECONDS = 600.0
STOP_SECONDS = 20.0
POLL_SECONDS = 0.5


class ProgramError(Exception):
    """A queue did not do what it was asked to; the message is for people."""


@dataclass(frozen=True, slots=True)
class Programs:
    """One entrant in a database of its own."""

    entrant: Entrant
    setup: Setup
    log: Path

    @property
    def database(self) -> str:
        return _database_of(self.entrant)

    @classmethod
    def on(cls, stage: Stage, entrant: Entrant) -> "Programs":
        """In a fresh database, with its tables."""
        place = _database_of(entrant)
        witness = stage.folder / f"{place}.witness"
        witness.unlink(missing_ok=True)
        setup = Setup(
            dsn=stage.database(place, entrant.server),
            witness=str(witness),
            redis=str(stage.redis or ""),
            **entrant.options,
        )
        programs = cls(entrant, setup, stage.folder / f"{place}.log")
        programs.run("prepare")
        return programs

    def run(self, verb: str, *arguments: object) -> Any:
        """What the program has measured."""
        with self.log.open("a") as log:
            try:
                done = subprocess.run(
                    self._command(verb, *arguments),
                    cwd=ROOT,
                    env=self._environment(),
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    timeout=VERB_SECONDS,
                    check=True,
                )
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                raise ProgramError(f"{self.entrant.name} cannot {verb}: {self._tail()}") from error
        return json.loads(done.stdout.splitlines()[-1])

    @contextmanager
    def working(self) -> Generator[list[subprocess.Popen[str]]]:
        """Its workers."""
        with ExitStack() as stack:
            count = self.entrant.workers * self.run("describe")["workers"]
            yield [stack.enter_context(self._started("work")) for _ in range(count)]

    def drain(self, limit_seconds: float) -> Span:
        """Let it work until nothing is left or the time is up."""
        with self._started("watch", limit_seconds) as watch:
            self._expect(watch, "watching")
            with self.working() as workers:
                self._until_said(watch, workers)
                self._expect(watch, "drained", "late")
            assert watch.stdin is not None
            watch.stdin.write("\n")
            watch.stdin.flush()
            assert watch.stdout is not None
            said = watch.stdout.readline()
        if not said:
            raise ProgramError(f"{self.entrant.name} gave no span: {self._tail()}")
        return Span(**json.loads(said))

    def _until_said(
        self, watch: subprocess.Popen[str], workers: Sequence[subprocess.Popen[str]]
    ) -> None:
        """The watch is bounded in time; a worker that has died ends it sooner."""
        with DefaultSelector() as selector:
            selector.register(cast("TextIO", watch.stdout), EVENT_READ)
            while not selector.select(POLL_SECONDS):
                if any(worker.poll() is not None for worker in workers):
                    raise ProgramError(f"a worker of {self.entrant.name} ended: {self._tail()}")

    def _expect(self, watch: subprocess.Popen[str], *words: str) -> str:
        assert watch.stdout is not None
        said = watch.stdout.readline().strip()
        if said not in words:
            raise ProgramError(f"{self.entrant.name} failed: {self._tail()}")
        return said

    @contextmanager
    def _started(self, *verb: object) -> Generator[subprocess.Popen[str]]:
        with self.log.open("a") as log:
            process = subprocess.Popen(
                self._command(*verb),
                cwd=ROOT,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if verb[0] == "watch" else log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            _end(process)

    def _command(self, *verb: object) -> Sequence[str]:
        python = str(PEERS_PYTHON) if self.entrant.queue in PEERS_VENV else sys.executable
        program = (python, "-m", "benchmarks.peers.program", self.entrant.queue)
        return [*program, *map(str, verb)]

    def _environment(self) -> dict[str, str]:
        mine = {**os.environ, **self.setup.as_environment()}
        if self.entrant.queue in PEERS_VENV:
            mine.pop("PYTHONPATH", None)
        return mine

    def _tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return " | ".join(lines[-3:])


def _database_of(entrant: Entrant) -> str:
    return f"bench_{entrant.queue}"


def _end(process: subprocess.Popen[str]) -> None:
    """SIGTERM to the one that was started; to its whole session only if that does not help."""
    for stream in (process.stdin, process.stdout):
        _close(stream)
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)


def _close(stream: TextIO | None) -> None:
    if stream is not None:
        with suppress(BrokenPipeError):
            stream.close()
