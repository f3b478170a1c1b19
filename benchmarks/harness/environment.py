"""The environment of the peers: `python -m benchmarks.harness.environment` makes it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PEERS_VENV = ROOT / ".venv-peers"
PEERS_PYTHON = PEERS_VENV / "bin" / "python"
NEEDED = ("psycopg[binary,pool]", "uvloop")
PEERS = ("celery[redis]", "procrastinate", "pgqueuer[asyncpg]", "dbos", "chancy")


def installed() -> dict[str, str]:
    """The versions of what is there, by name."""
    if not PEERS_PYTHON.exists():
        return {}
    listed = subprocess.run(
        [PEERS_PYTHON, "-m", "pip", "list", "--format", "freeze"],
        check=True,
        capture_output=True,
        text=True,
    )
    pairs = (line.partition("==") for line in listed.stdout.splitlines())
    return {name.lower(): version for name, _, version in pairs}


def main() -> None:
    if not PEERS_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PEERS_VENV], check=True)
    _pip_install(*NEEDED)
    have = installed()
    for peer in PEERS:
        if peer.partition("[")[0] not in have and not _pip_install(peer, check=False):
            print(f"{peer} cannot be installed here, and will be left out.")
    _ensure_redis()


def _pip_install(*packages: str, check: bool = True) -> bool:
    command = [PEERS_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*command, *packages], check=check).returncode == 0


def _ensure_redis() -> None:
    """Debian starts its Redis when it is installed; a policy forbids that here."""
    if shutil.which("redis-server"):
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        subprocess.run([apt, "install", "-y", "-qq", "redis-server"], check=False, env=quietly)
    if not shutil.which("redis-server"):
        print("There is no redis-server and no way to install it: Celery will be left out.")


if __name__ == "__main__":
    main()
