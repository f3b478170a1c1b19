"""Every example runs, and prints what it says it prints."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def promised_output(script: Path) -> list[str]:
    _, found, tail = script.read_text().partition("\n# Output:\n")
    assert found, f"{script.name} does not say what it prints"
    return [line.removeprefix("#").removeprefix(" ") for line in tail.splitlines()]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_an_example_prints_what_it_promises(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == promised_output(script)


def test_there_are_examples() -> None:
    assert SCRIPTS
