"""What a child runs, and how it begins as a new interpreter instead of a fork."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn, cast

ChildMain = Callable[[socket.socket, int, bytes], None]


def load_child_main(name: str) -> ChildMain:
    """By package.module:function."""
    module, _, function = name.partition(":")
    return cast("ChildMain", getattr(import_module(module), function))


def become_interpreter(child_main: str, line: int, page: int, setup: bytes) -> NoReturn:
    """The setup may hold secrets, so it goes through a file without a name."""
    with tempfile.TemporaryFile() as file:
        file.write(setup)
        file.flush()
        descriptors = (line, page, file.fileno())
        for descriptor in descriptors:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - its name
        numbers = map(str, descriptors)
        os.execv(sys.executable, [sys.executable, "-m", __name__, child_main, *numbers])  # noqa: S606 - ourselves


def main() -> None:
    child_main, line, page, setup = sys.argv[1], *map(int, sys.argv[2:])
    with os.fdopen(setup, "rb") as file:
        file.seek(0)
        told = file.read()
    load_child_main(child_main)(socket.socket(fileno=line), page, told)


if __name__ == "__main__":
    main()
