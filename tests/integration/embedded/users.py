"""Other processes that use a project's server, told what to do line by line."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import psycopg

USER = """
    import sys
    from pathlib import Path
    from horsies.adapters.embedded.server import EmbeddedServer

    server = EmbeddedServer(Path(sys.argv[1]))
    server.acquire()
    print(server.status().pid, flush=True)
    sys.stdin.readline()
    server.release()
"""

# The interpreter may be out of that account's reach: whatever it will need is loaded before.
BECOME = """
    import os, psycopg
    from horsies.adapters.embedded import server as _

    try:
        psycopg.connect("host=/nowhere")
    except psycopg.OperationalError:
        pass
    os.setgroups([])
    os.setgid({gid})
    os.setuid({uid})
"""

ROOT = Path(__file__).parents[3]


class User:
    """A process that acquires the server, and releases it when it is told to."""

    def __init__(self, project: Path, preface: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", dedent(preface) + dedent(USER), project],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def served_by(self) -> int:
        """The server's pid, once it has acquired it."""
        told = self.process.stdout.readline()
        assert told, self.process.stderr.read()
        return int(told)

    def leave(self) -> None:
        _, complaint = self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0, complaint

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def ask(dsn: str, statement: str) -> object:
    with psycopg.connect(dsn) as connection:
        answer = connection.execute(statement)
        return answer.fetchone()[0] if answer.description else None


def run_program(text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", dedent(text), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},  # for tests.draining
    )
