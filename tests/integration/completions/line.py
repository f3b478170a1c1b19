"""A line to the server that can be made to fall silent, as half-open connections do."""

import asyncio
import shutil
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable
from pathlib import Path
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

SOCKET = ".s.PGSQL.5432"


class Call:
    """One connection through the line."""

    def __init__(self) -> None:
        self.silent = False
        self.said = b""
        """By the client."""

    async def forward(self, source: StreamReader, target: StreamWriter, *, keep: bool) -> None:
        while data := await source.read(65_536):
            if keep:
                self.said += data
            if not self.silent:
                target.write(data)
                await target.drain()


class Line:
    """`dsn` leads through it to the server; there is nothing there until it is opened."""

    def __init__(self, dsn: str) -> None:
        self._server_socket = f"{conninfo_to_dict(dsn)['host']}/{SOCKET}"
        self._directory = Path(tempfile.mkdtemp(prefix="horsies-line-"))  # short, as sockets need
        self._answering: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.calls: list[Call] = []
        self.dsn = make_conninfo(dsn, host=str(self._directory))

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._answer, self._directory / SOCKET)

    def fall_silent(self) -> None:
        """For those who are connected: nothing passes, and nothing is closed."""
        for call in self.calls:
            call.silent = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)
        shutil.rmtree(self._directory)

    def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.ensure_future(self._carry(reader, writer))
        self._answering.add(task)

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        call = Call()
        self.calls.append(call)
        server_reader, server_writer = await asyncio.open_unix_connection(self._server_socket)
        ways: list[Awaitable[None]] = [
            call.forward(reader, server_writer, keep=True),
            call.forward(server_reader, writer, keep=False),
        ]
        both = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in both:
                way.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            for end in (writer, server_writer):
                end.close()
