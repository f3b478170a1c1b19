"""What a child process of a worker runs: it loads the app, then serves one task after the other."""

import asyncio
import json
import logging
import os
import socket
import sys
import traceback
from dataclasses import asdict, dataclass

from horsies.adapters.execution import wire
from horsies.adapters.execution.child_line import ChildLine
from horsies.adapters.execution.child_loop import ChildLoop
from horsies.adapters.execution.mortality import die_at_hang_up
from horsies.adapters.execution.page import Page
from horsies.adapters.execution.pulse import keep_pulse
from horsies.application.ports.performer import Performer
from horsies.domain.errors import FaultsError
from horsies.entrypoints.locator import load_app
from horsies.entrypoints.logs import LogFormat, configure_logs

NAME = f"{__name__}:main"
"""How the supervisor is told of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSetup:
    """What a child is told; it goes through a pipe, never through arguments or the environment."""

    locator: str
    imports: tuple[str, ...]
    path: tuple[str, ...]
    directory: str
    loglevel: int
    log_format: str

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> "ChildSetup":
        return cls(**json.loads(data))


def main(line: socket.socket, page_descriptor: int, setup: bytes) -> None:
    page = Page(page_descriptor)
    die_at_hang_up(line)
    keep_pulse(page)
    child_line = ChildLine(line, page)
    with asyncio.Runner() as runner:
        try:
            performer = _prepare(ChildSetup.decode(setup))
            runner.run(performer.open())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the worker tells it
            child_line.send(wire.Broken(_report(error)))
            sys.exit(1)
        ChildLoop(child_line, page, performer).serve(runner)
        runner.run(performer.close())


def _prepare(setup: ChildSetup) -> Performer:
    os.chdir(setup.directory)
    sys.path[:] = setup.path
    configure_logs(setup.loglevel, LogFormat(setup.log_format))
    app = load_app(setup.locator, setup.imports)
    for hook in app.child_hooks:
        hook()
    logging.getLogger("horsies.worker").debug("child %d is ready", os.getpid())
    return app.performer()


def _report(error: BaseException) -> str:
    return error.report() if isinstance(error, FaultsError) else traceback.format_exc()
