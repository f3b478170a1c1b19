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


def line_at(file: str, number: int) -> SourceLine:
    """A given line of a file."""
    return SourceLine(_shown(file), number, _text(file, number).rstrip("\r\n"))


def caller() -> SourceLine | None:
    """The line that called into Horsies."""
    frame = inspect.currentframe()
    while frame is not None and _is_inside(frame):
        frame = frame.f_back
    return None if frame is None else line_at(frame.f_code.co_filename, frame.f_lineno)


def decorator_line(function: object) -> SourceLine | None:
    """The first decorator of a function, or its `def` if it has none."""
    code = _code_of(function)
    return None if code is None else line_at(code.co_filename, code.co_firstlineno)


def def_line(function: object) -> SourceLine | None:
    """The `def` of a function, below its decorators."""
    return _first_match(function, _definition_of(function)) or decorator_line(function)


def option_line(function: object, option: str) -> SourceLine | None:
    """The line of its decorators that passes `option=`, or their first one."""
    passes = rf"\b{re.escape(option)}\s*="
    return _first_match(function, passes) or decorator_line(function)


def _definition_of(function: object) -> str:
    code = _code_of(function)
    return rf"^\s*(async\s+)?def\s+{re.escape(code.co_name if code else '')}\b"


def _first_match(function: object, wanted: str) -> SourceLine | None:
    """The first line that matches, from the first decorator to the `def`."""
    code = _code_of(function)
    if code is None:
        return None
    number = code.co_firstlineno
    while text := _text(code.co_filename, number):
        if re.search(wanted, text):
            return line_at(code.co_filename, number)
        if re.match(_definition_of(function), text):
            return None
        number += 1
    return None


def _is_inside(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] == _PACKAGE or module in _PASSED_THROUGH


def _code_of(function: Any) -> CodeType | None:
    try:
        code = getattr(inspect.unwrap(function), "__code__", None)
    except Exception:  # noqa: BLE001 - wrappers may form a circle, or have a strange __getattr__
        return None
    return code if isinstance(code, CodeType) else None


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
