"""The server's first process: found, launched and ended."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from horsies.adapters.embedded.errors import ServerStopError
from horsies.adapters.embedded.places import Places
from horsies.adapters.embedded.sockets import PORT

FAST_STOP_SECONDS = 10
IMMEDIATE_STOP_SECONDS = 10
POLL_SECONDS = 0.01
LOG_LIMIT_BYTES = 10 * 1024 * 1024

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
}

# The shell goes at once and leaves the server to init: it is no child of ours that we would have to
# wait for, and that a caller's own `os.wait()` would find.
LAUNCH_SCRIPT = '"$@" >&2 & echo $!'


def find_postmaster(data: Path) -> psutil.Process | None:
    """The live server of this directory; after a crash its pid may be anybody's by now."""
    try:
        pid = int((data / "postmaster.pid").read_text().splitlines()[0])
        process = psutil.Process(pid)
        return process if _serves(data, process.cmdline()) else None
    except (FileNotFoundError, IndexError, ValueError):
        return None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def is_alive(process: psutil.Process) -> bool:
    """A zombie is gone: in a container there may be no init to bury it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def launch_postmaster(
    places: Places, binaries: Path, settings: Mapping[str, str], alive: int
) -> psutil.Process | None:
    """Start it in a session of its own; None if it is gone already, and the log says why."""
    log = _open_log(places)
    try:
        launched = subprocess.run(  # noqa: S603 - the program is the PostgreSQL that was chosen
            ["/bin/sh", "-c", LAUNCH_SCRIPT, "sh", *_command(places, binaries, settings)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            pass_fds=(alive,),
            **places.account.launch_options(),
        )
    finally:
        os.close(log)
    try:
        return psutil.Process(int(launched.stdout))
    except psutil.NoSuchProcess:
        return None


def end_postmaster(places: Places) -> bool:
    """Whether there was one to end."""
    process = find_postmaster(places.data)
    if process is None:
        return False
    # A fast shutdown lets transactions roll back; an immediate one leaves it to the next start.
    if not (
        _ends_by(process, signal.SIGINT, FAST_STOP_SECONDS)
        or _ends_by(process, signal.SIGQUIT, IMMEDIATE_STOP_SECONDS)
    ):
        raise ServerStopError(
            f"PostgreSQL (process {process.pid}) goes on although it was told to stop:"
            f" look at it, then `kill -9 {process.pid}`"
        )
    with suppress(OSError):
        places.sockets.rmdir()
    return True


def _ends_by(process: psutil.Process, how: signal.Signals, patience: float) -> bool:
    try:
        process.send_signal(how)
    except psutil.NoSuchProcess:
        return True
    deadline = time.monotonic() + patience
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _serves(data: Path, command: list[str]) -> bool:
    return (
        len(command) > 2  # noqa: PLR2004 - the program, the option and its value
        and Path(command[0]).name == "postgres"
        and command[1:3] == ["-D", str(data)]
    )


def _command(places: Places, binaries: Path, settings: Mapping[str, str]) -> Iterator[str]:
    # Where it is found comes last: the rest of us computes it and no setting may move it.
    where = {"unix_socket_directories": str(places.sockets), "port": str(PORT)}
    yield from (str(binaries / "postgres"), "-D", str(places.data))
    for name, value in {**SETTINGS, **settings, **where}.items():
        yield from ("-c", f"{name}={value}")


def _open_log(places: Places) -> int:
    if places.log.exists() and places.log.stat().st_size > LOG_LIMIT_BYTES:
        places.log.replace(places.log.with_name("log.1"))
    log = os.open(places.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    places.account.give(log, 0o600)
    return log
