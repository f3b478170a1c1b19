"""Bringing a server up until it answers, within a bounded time."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil
import psycopg

from horsies.adapters.embedded.binaries import Binaries
from horsies.adapters.embedded.cluster import ensure_data
from horsies.adapters.embedded.errors import ServerStartError
from horsies.adapters.embedded.installation import runnable_by
from horsies.adapters.embedded.locks import take_if_free
from horsies.adapters.embedded.places import Places
from horsies.adapters.embedded.postmaster import (
    POLL_SECONDS,
    find_postmaster,
    is_alive,
    launch_postmaster,
)
from horsies.adapters.embedded.sockets import forget_socket, make_private
from horsies.domain.errors import BrokerFault

START_SECONDS = 30
CONNECT_SECONDS = 2
LOG_LINES = 15


@dataclass(frozen=True, slots=True)
class Startup:
    """One attempt; the caller holds the start lock."""

    places: Places
    binaries: Binaries
    settings: Mapping[str, str]
    admin_dsn: str

    def run(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        found = find_postmaster(self.places.data)
        if found is not None and self._answers(found, deadline):
            return
        # None ran, or it was on its way out.
        launched = self._launch(deadline)
        if launched is None or not self._answers(launched, deadline):
            raise ServerStartError(f"PostgreSQL did not start; {self._log_tail()}")

    def _launch(self, deadline: float) -> psutil.Process | None:
        places = self.places
        binaries = runnable_by(places.account, self.binaries)
        ensure_data(places.data, binaries, places.account)
        make_private(places.sockets, places.account)
        while (alive := take_if_free(places.alive_lock)) is None:
            # Its starter may have been killed before the server had written its pid file.
            if (found := find_postmaster(places.data)) is not None:
                return found
            self._wait(deadline, self._held_by_others())
        try:
            # Nobody serves this data, wherever it is looked at from: what says otherwise is stale.
            (places.data / "postmaster.pid").unlink(missing_ok=True)
            forget_socket(places.sockets)
            return launch_postmaster(places, binaries, self.settings, alive)
        finally:
            os.close(alive)

    def _answers(self, process: psutil.Process, deadline: float) -> bool:
        """Whether it came to answer; False once it is gone."""
        while is_alive(process):
            try:
                connect(self.admin_dsn).close()
            except psycopg.OperationalError:
                self._wait(deadline, self._silent(process))
            else:
                return True
        return False

    def _wait(self, deadline: float, complaint: str) -> None:
        if time.monotonic() > deadline:
            raise ServerStartError(f"{complaint}; {self._log_tail()}", fault=BrokerFault.BUSY)
        time.sleep(POLL_SECONDS)

    def _held_by_others(self) -> str:
        return (
            f"after {START_SECONDS} s the database in {self.places.data} is still in use: by"
            " what is left of a server that was killed, or by one in another container"
            " (set HORSIES_DATABASE_URL there and here)"
        )

    def _silent(self, process: psutil.Process) -> str:
        return (
            f"PostgreSQL (process {process.pid}) did not answer within {START_SECONDS} s: it may"
            " be recovering, then try again later; else `horsies db stop` and try again"
        )

    def _log_tail(self) -> str:
        log = self.places.log
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return "\n".join([f"the end of its log, {log}:", *lines[-LOG_LINES:]])


def connect(dsn: str) -> psycopg.Connection:
    return psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS)
