"""What `import horsies` gives, and what it costs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import horsies

SOURCE = Path(horsies.__file__).parent
LATE = {"dependency_injector", "asyncio", "click", "pytest", "pydantic"}


@pytest.mark.parametrize("name", horsies.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(importlib.import_module("horsies"), name) is not None


def test_public_names_are_listed_in_order_and_once():
    classes_first = sorted(horsies.__all__, key=lambda name: (name.islower(), name))
    assert horsies.__all__ == classes_first
    assert len(set(horsies.__all__)) == len(horsies.__all__)


def test_type_checkers_and_python_find_the_same_names_in_the_same_places():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    for_checkers = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("horsies.")
        for alias in node.names
    }
    at_runtime = {name: f"horsies.{module}" for name, module in horsies._HOME_OF.items()}
    assert for_checkers == at_runtime
    assert set(at_runtime) == set(horsies.__all__)


def test_all_public_names_are_shown_by_dir():
    assert set(horsies.__all__) <= set(dir(horsies))


def test_a_name_that_is_not_public_is_missed_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = horsies.nonsense


def modules_after(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return modules_after(
        "from horsies import *\n"
        "app = Horsies('postgresql://db/shop')\n"
        "@app.task('add')\n"
        "def add(x: int) -> TaskResult[int, TaskError]: return TaskResult(ok=x)\n"
        "add(1)\n"
    )


@pytest.mark.parametrize("module", sorted(LATE))
def test_importing_and_defining_tasks_does_not_load(loaded, module):
    assert module not in loaded


def test_the_version_is_the_one_of_the_package():
    from importlib.metadata import version  # noqa: PLC0415 - only this law needs it

    assert horsies.__version__ == version("horsies")


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def importers_of(package: str) -> set[str]:
    return {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if package in imports_of(path)
    }


def test_only_the_container_knows_the_injector():
    assert importers_of("dependency_injector") == {"entrypoints/container.py"}


def test_pydantic_is_never_imported():
    assert importers_of("pydantic") == set()


def test_only_the_codec_and_the_wire_between_processes_know_msgspec():
    others = {path for path in importers_of("msgspec") if not path.startswith("adapters/codec/")}
    assert others == {"adapters/execution/wire.py"}


def test_only_the_command_line_knows_click():
    assert all(path.startswith("entrypoints/cli/") for path in importers_of("click"))


def test_testing_is_public_too():
    from horsies import testing  # noqa: PLC0415 - it loads the engine

    assert testing.__all__ == ["Sandbox", "SentTask"]
