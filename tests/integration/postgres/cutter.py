"""A way to the server that loses an answer: the work is done, and nobody hears of it."""

import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

SOCKET = ".s.PGSQL.5432"
READY_FOR_QUERY = b"Z\x00\x00\x00\x05"


class Cutter:
    """`dsn` leads through it; `cut_after(words)` ends the next call that says them."""

    def __init__(self, dsn: str) -> None:
        self._given = conninfo_to_dict(dsn)
        self._directory = Path(tempfile.mkdtemp(prefix="horsies-cut-"))  # short, as sockets need
        self._listening = socket.socket(socket.AF_UNIX)
        self._words: bytes | None = None
        self._open: list[socket.socket] = []
        self.dsn = make_conninfo(dsn, host=str(self._directory), port=5432)

    def cut_after(self, words: bytes) -> None:
        self._words = words

    @property
    def has_cut(self) -> bool:
        return self._words is None

    def __enter__(self) -> Self:
        self._listening.bind(str(self._directory / SOCKET))
        self._listening.listen()
        self._directory.chmod(0o755)
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for line in [self._listening, *self._open]:
            _hang_up(line)
        shutil.rmtree(self._directory)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = self._reach_server()
                self._open += [client, server]
                cut = Event()
                Thread(target=self._ask, args=(client, server, cut), daemon=True).start()
                Thread(target=self._answer, args=(server, client, cut), daemon=True).start()

    def _reach_server(self) -> socket.socket:
        host, port = str(self._given["host"]), self._given.get("port", 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, int(port)))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _ask(self, client: socket.socket, server: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while said := client.recv(65_536):
                if self._words is not None and self._words in said:
                    self._words = None
                    cut.set()
                server.sendall(said)
        _hang_up(server)

    def _answer(self, server: socket.socket, client: socket.socket, cut: Event) -> None:
        with suppress(OSError):
            while said := server.recv(65_536):
                if not cut.is_set():
                    client.sendall(said)
                elif READY_FOR_QUERY in said:  # it is done, and that is what nobody hears
                    break
        _hang_up(server)
        _hang_up(client)


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
