"""The domain is pure: no I/O, no clock, no chance, and nothing that changes."""

import ast
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ALLOWED_STDLIB = {
    "collections",
    "dataclasses",
    "datetime",
    "enum",
    "itertools",
    "traceback",  # formats exceptions; it reads source lines through linecache, and nothing else
    "types",
    "typing",
    "uuid",
}
ALLOWED = ALLOWED_STDLIB | {"returns"}
CLOCK_AND_CHANCE = {"now", "utcnow", "today", "uuid1", "uuid4"}
IO_AND_CODE = {"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint"}


def folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


DOMAIN = folder_of("horsies.domain")
MODULES = sorted(DOMAIN.rglob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def forbidden_imports(source: str) -> set[str]:
    return {
        name
        for name in imported(ast.parse(source))
        if name.partition(".")[0] not in ALLOWED
        and not (name == "horsies.domain" or name.startswith("horsies.domain."))
    }


def impure_names(source: str) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) if name in CLOCK_AND_CHANCE:
                found.add(name)
            case ast.ImportFrom(names=aliases):
                found |= {alias.name for alias in aliases} & CLOCK_AND_CHANCE
            case ast.Name(id=name) if name in IO_AND_CODE:
                found.add(name)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_domain_imports_nothing_but_itself_and_what_is_allowed(path: Path):
    assert forbidden_imports(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_domain_asks_no_clock_and_no_chance_and_does_no_io(path: Path):
    assert impure_names(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_everything_in_the_domain_is_frozen(path: Path):
    inside = path.relative_to(DOMAIN).with_suffix("").parts
    module = import_module(".".join(("horsies.domain", *inside)).removesuffix(".__init__"))
    values = [value for value in vars(module).values() if is_dataclass(value)]
    assert all(value.__dataclass_params__.frozen for value in values)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_module_begins_by_saying_what_it_is_for(path: Path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import random as dice",
        "from time import monotonic",
        "import asyncio.events",
        "from horsies.application import ports",
        "import horsies",
        "from .. import application",
        "def late():\n    import logging",
    ],
)
def test_the_check_sees_a_forbidden_import(source: str):
    assert forbidden_imports(source)


@pytest.mark.parametrize(
    "source",
    [
        "datetime.now(UTC)",
        "datetime.datetime.utcnow()",
        "date.today()",
        "uuid.uuid4()",
        "from uuid import uuid1",
        "field(default_factory=uuid.uuid4)",
        "open('x')",
        "print('x')",
    ],
)
def test_the_check_sees_a_clock_a_chance_and_an_output(source: str):
    assert impure_names(source)


@pytest.mark.parametrize(
    "source", ["now = later", "from uuid import UUID, uuid5", "def f(now): ..."]
)
def test_the_check_lets_pure_code_pass(source: str):
    assert impure_names(source) == set()
