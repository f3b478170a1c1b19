"""Modules of a user's project, written to a directory and imported from it."""

import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from textwrap import dedent

import pytest

Write = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write modules of a project; they are importable, and forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(**modules: str) -> Path:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(dedent(text).lstrip("\n"))
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def no_database(monkeypatch, tmp_path):
    """A service that lost its variable: nothing configured, no terminal, no local server."""
    for variable in ("HORSIES_DATABASE_URL", "DATABASE_URL", "HORSIES_EMBEDDED"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}", StringIO())
