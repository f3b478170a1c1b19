"""A PgBouncer in transaction mode, in front of a server, for as long as it is needed."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

PORT = 6432
USUAL_PLACES = "/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"
PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path=USUAL_PLACES)
KNOWS_PREPARED_STATEMENTS = (1, 21)


def modes() -> list[dict[str, str]]:
    """The ways to set it up that matter to us; none where it is not installed."""
    if PROGRAM is None:
        return []
    told = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True)
    major, minor = re.search(r"(\d+)\.(\d+)", told.stdout).groups()
    if (int(major), int(minor)) < KNOWS_PREPARED_STATEMENTS:
        return [{}]
    return [{}, {"max_prepared_statements": "0"}]


@contextmanager
def bouncing(dsn: str, mode: dict[str, str]) -> Generator[str]:
    """The DSN of the same database, through the bouncer."""
    given = conninfo_to_dict(dsn)
    folder = Path(tempfile.mkdtemp(prefix="horsies-bouncer-"))  # short, as sockets need
    user = _who_may_reach(str(given["host"]))
    shutil.chown(folder, user, user)
    process = subprocess.Popen(
        [PROGRAM, _written(folder, given, mode)],
        user=user if os.geteuid() == 0 else None,
        group=user if os.geteuid() == 0 else None,
        extra_groups=[] if os.geteuid() == 0 else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    bounced = make_conninfo(dsn, host=str(folder), port=PORT)
    try:
        _await(bounced)
        yield bounced
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def _who_may_reach(host: str) -> int:
    """It refuses to run as root, and the sockets of our servers are for their user alone."""
    if os.geteuid() != 0:
        return os.geteuid()
    owner = Path(host).stat().st_uid if host.startswith("/") else 0
    return owner or 65_534


def _written(folder: Path, given: dict[str, object], mode: dict[str, str]) -> Path:
    settings = {
        "listen_addr": "",
        "listen_port": PORT,
        "unix_socket_dir": folder,
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": 4,
        "server_lifetime": 1,  # sessions change as often as they can
        "logfile": folder / "log",
    } | mode
    target = f"host={given['host']} port={given.get('port', 5432)} user={given['user']}"
    if "password" in given:
        target += f" password={given['password']}"
    lines = ["[databases]", f"* = {target}", "[pgbouncer]"]
    file = folder / "pgbouncer.ini"
    file.write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in settings.items())]))
    file.chmod(0o644)
    return file


def _await(dsn: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
