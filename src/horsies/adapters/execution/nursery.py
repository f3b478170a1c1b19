"""The process that makes children, buries them, and tells the worker of both.

It has imported what every child needs and runs nothing else: no threads, no connections, no code of
the user's. So its forks are safe and fast, and it can wait for each child and say what it used. It
lives as long as the worker's end of its line, and its children no longer than itself.
"""

import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

from horsies.adapters.execution import wire
from horsies.adapters.execution.frames import LENGTH, frame
from horsies.adapters.execution.mortality import die_with_parent, peak_memory
from horsies.adapters.execution.spawned import become_interpreter, load_child_main

DESCRIPTORS_OF_A_CHILD = 2  # its socket and its page
IGNORED = (signal.SIGINT, signal.SIGTERM)
"""A terminal signals everybody; who stops and when is the worker's to say."""

SPAWN = "spawn"


class Nursery:
    """With `spawn` a child is a new interpreter, for libraries that do not survive a fork."""

    def __init__(self, line: socket.socket, child_main: str, *, spawn: bool = False) -> None:
        self._line = line
        self._child_main = child_main
        self._spawn = spawn
        if not spawn:
            load_child_main(child_main)  # what it imports is shared by all children
        self._births: dict[int, int] = {}  # by pid

    def serve(self) -> Callable[[], None] | None:
        """Until the worker hangs up. In a new child it returns what that child is to do."""
        wakeup, alarm = socket.socketpair()
        alarm.setblocking(False)  # noqa: FBT003 - its name
        signal.signal(signal.SIGCHLD, _notice)
        signal.set_wakeup_fd(alarm.fileno())
        with selectors.DefaultSelector() as selector:
            selector.register(self._line, selectors.EVENT_READ)
            selector.register(wakeup, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is wakeup:
                        wakeup.recv(4096)
                        self._bury()
                        continue
                    request = self._receive()
                    if request is None:
                        self._end()
                        return None
                    child = self._carry_out(*request)
                    if child is not None:
                        signal.set_wakeup_fd(-1)
                        wakeup.close()
                        alarm.close()
                        return child

    def _receive(self) -> tuple[wire.ToNursery, list[int]] | None:
        head, descriptors, _, _ = socket.recv_fds(self._line, LENGTH.size, DESCRIPTORS_OF_A_CHILD)
        if not head:
            return None
        (size,) = LENGTH.unpack(head)
        body = b""
        while len(body) < size:
            body += self._line.recv(size - len(body))
        return wire.to_nursery(body), descriptors

    def _carry_out(
        self, request: wire.ToNursery, descriptors: list[int]
    ) -> Callable[[], None] | None:
        if isinstance(request, wire.Signal):
            self._signal(request)
            return None
        pid = os.fork()
        if pid == 0:
            self._line.close()
            return lambda: self._live(request.setup, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self._births[pid] = request.birth
        self._tell(wire.Born(request.birth, pid))
        return None

    def _live(self, setup: bytes, line: int, page: int) -> None:
        os.setpgid(0, 0)  # what the user's code starts can be ended with it
        for number in (*IGNORED, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._spawn:
            become_interpreter(self._child_main, line, page, setup)
        load_child_main(self._child_main)(socket.socket(fileno=line), page, setup)

    def _signal(self, request: wire.Signal) -> None:
        """Only to who is not buried yet: a number that is free may belong to a stranger."""
        for pid, birth in self._births.items():
            if birth != request.birth:
                continue
            if request.number != signal.SIGKILL or not _kill_group(pid):
                os.kill(pid, request.number)

    def _bury(self) -> None:
        while self._births:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            _kill_group(pid)  # whatever it has left behind
            self._tell(
                wire.Died(
                    self._births.pop(pid),
                    os.waitstatus_to_exitcode(status),
                    usage.ru_utime + usage.ru_stime,
                    peak_memory(usage),
                )
            )

    def _tell(self, message: wire.FromNursery) -> None:
        self._line.sendall(frame(wire.encode(message)))

    def _end(self) -> None:
        for pid in self._births:
            if not _kill_group(pid):
                os.kill(pid, signal.SIGKILL)


def _notice(number: int, frame: FrameType | None) -> None:
    """A handler that is ours: without one the wake-up descriptor hears nothing."""


def _kill_group(pid: int) -> bool:
    """Whether there was one."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of the dead
        return False
    return True


def main() -> None:
    line, child_main, worker, method = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    die_with_parent(worker)
    nursery = Nursery(socket.socket(fileno=line), child_main, spawn=method == SPAWN)
    here = os.getpid()
    live = nursery.serve()
    if live is not None:
        die_with_parent(here)
        live()


if __name__ == "__main__":
    main()
