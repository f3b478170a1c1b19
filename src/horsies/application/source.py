"""Where in the user's code something was written; a fault points there."""

import inspect
import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_PACKAGE = __name__.partition(".")[0]
_PASSED_THROUGH = {"dataclasses", "copy"}  # `replace(config, …)` builds a config for its caller


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file; `source` is empty where the text cannot be had (a REPL, `exec`)."""

    file: str
    line: int
    source: str


def caller() -> SourceLine | None:
    """The line that called into Horsies."""
    frame = inspect.currentframe()
    while frame is not None and _is_inside(frame):
        frame = frame.f_back
    return None if frame is None else _line(frame.f_code.co_filename, frame.f_lineno)


def decorator_line(function: object) -> SourceLine | None:
    """The first decorator of a function, or its `def` if it has none."""
    code = _code_of(function)
    return None if code is None else _line(code.co_filename, code.co_firstlineno)


def def_line(function: object) -> SourceLine | None:
    """The `def` of a function, below its decorators."""
    code = _code_of(function)
    if code is None:
        return None
    definition = re.compile(rf"\s*(async\s+)?def\s+{re.escape(code.co_name)}\b")
    number = code.co_firstlineno
    while text := _text(code.co_filename, number):
        if definition.match(text):
            return _line(code.co_filename, number)
        number += 1
    return _line(code.co_filename, code.co_firstlineno)


def _is_inside(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] == _PACKAGE or module in _PASSED_THROUGH


def _code_of(function: Any) -> CodeType | None:
    try:
        code = getattr(inspect.unwrap(function), "__code__", None)
    except Exception:  # noqa: BLE001 - wrappers may form a circle, or have a strange __getattr__
        return None
    return code if isinstance(code, CodeType) else None


def _line(file: str, number: int) -> SourceLine:
    return SourceLine(_shown(file), number, _text(file, number).rstrip("\r\n"))


def _text(file: str, number: int) -> str:
    try:
        return linecache.getline(file, number)
    except Exception:  # noqa: BLE001 - import hooks of others may raise anything
        return ""


def _shown(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere, or the current directory is gone
        return file
