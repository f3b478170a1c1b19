"""A line to PostgreSQL that kills its user right before or right after a chosen commit.

It reads the protocol on its way, so it neither knows nor cares how the user's statements are made:
a write without a transaction of its own is put into one, and before each commit the line asks, in
the same session, which transitions the transaction has made. Commits without any are not counted.
"""

import os
import re
import shutil
import signal
import socket
import struct
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.proof.protocol import Batch, Speaker, query

SOCKET = ".s.PGSQL.5432"
_KINDS = query(
    "SELECT string_agg(DISTINCT concat(was, '>', now), ' ') FROM public.proof_transitions"
    " WHERE transaction = pg_current_xact_id_if_assigned()"
)
_WRITES = re.compile(rb"\b(INSERT|UPDATE|DELETE|horsies_\w+\W?\()", re.IGNORECASE)
_BEGINS = re.compile(rb"^\s*(BEGIN|START)\b", re.IGNORECASE)
_COMMITS = re.compile(rb"\bCOMMIT\s*;?\s*$", re.IGNORECASE)


class When(Enum):
    BEFORE = "before"
    AFTER = "after"


class _KilledError(Exception):
    """The user is dead: there is nobody to speak to."""


@dataclass
class DeadlyLine:
    """Kills once, at the commit of this number, counted from 1; `kinds` tells of all it saw."""

    given_dsn: str
    point: int
    when: When
    kinds: list[str] = field(default_factory=list)
    has_killed: bool = False
    _directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="horsies-die-")))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: list[socket.socket] = field(default_factory=list)

    @property
    def dsn(self) -> str:
        return make_conninfo(self.given_dsn, host=str(self._directory), port=5432)

    def __enter__(self) -> Self:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._directory / SOCKET))
        self._listening.listen()
        self._open.append(self._listening)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        shutil.rmtree(self._directory)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{conninfo_to_dict(self.given_dsn)['host']}/{SOCKET}")
                self._open += [client, server]
                threading.Thread(target=self._carry, args=(client, server), daemon=True).start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError, _KilledError):
            speaker = Speaker(client, server)
            for batch in speaker.batches():
                self._pass_on(batch, speaker)
        for each in (client, server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, batch: Batch, speaker: Speaker) -> None:
        if speaker.status == b"T" and _COMMITS.search(batch.text):
            self._commit(batch, speaker)
        elif speaker.status == b"I" and _WRITES.search(batch.text) and not batch.says(_BEGINS):
            self._commit_apart(batch, speaker)
        else:
            speaker.tell(speaker.ask(batch.raw))

    def _commit(self, batch: Batch, speaker: Speaker) -> None:
        counts = self._look(speaker)
        answer = speaker.ask(batch.raw)
        self._maybe_kill(speaker, When.AFTER, counts=counts)
        speaker.tell(answer)

    def _commit_apart(self, batch: Batch, speaker: Speaker) -> None:
        """The user sees no transaction: it is opened and ended around the statement."""
        speaker.ask(query("BEGIN"))
        answer = speaker.ask(batch.raw)
        if speaker.status != b"T":
            speaker.ask(query("ROLLBACK"))
            speaker.tell(answer, as_idle=True)
            return
        counts = self._look(speaker)
        speaker.ask(query("COMMIT"))
        self._maybe_kill(speaker, When.AFTER, counts=counts)
        speaker.tell(answer, as_idle=True)

    def _look(self, speaker: Speaker) -> bool:
        """Whether this is a commit that counts; the user may not live to see it."""
        kinds = speaker.value(_KINDS)
        if kinds is None:
            return False
        with self._lock:
            self.kinds.append(kinds)
        self._maybe_kill(speaker, When.BEFORE, counts=True)
        return True

    def _maybe_kill(self, speaker: Speaker, when: When, *, counts: bool) -> None:
        with self._lock:
            if self.has_killed:
                raise _KilledError
            if not counts or when is not self.when or len(self.kinds) != self.point:
                return
            self.has_killed = True
            _kill(speaker.client)
        raise _KilledError


def _kill(client: socket.socket) -> None:
    """The process at the other end; it must not see how its line ends."""
    told = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, _, _ = struct.unpack("3i", told)
    handle = os.pidfd_open(pid)
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
