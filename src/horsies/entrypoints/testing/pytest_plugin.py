"""The pytest fixtures `horsies` and `horsies_app`.

# pyproject.toml
[tool.pytest.ini_options]
horsies_app = "myproject.tasks:app"

def test_signup_sends_a_welcome(horsies):
    sign_up("ada@example.com")
    horsies.assert_sent(send_welcome, email="ada@example.com")
"""

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from horsies.entrypoints.app import Horsies
    from horsies.entrypoints.testing.sandbox import Sandbox


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("horsies_app", "the Horsies app under test, as package.module:app")


@pytest.fixture
def horsies_app(pytestconfig: pytest.Config) -> "Horsies":
    """The app under test; override it, or name the app in the ini option `horsies_app`."""
    from horsies.entrypoints.locator import load_app  # noqa: PLC0415 - only tests that ask pay

    locator = str(pytestconfig.getini("horsies_app"))
    if not locator:
        raise pytest.UsageError(
            'which app? Set horsies_app = "package.module:app" in the pytest configuration, '
            "or override the fixture horsies_app"
        )
    return load_app(locator)


@pytest.fixture
def horsies(horsies_app: "Horsies") -> "Generator[Sandbox]":
    """The app on an in-memory engine with a virtual clock, fresh for each test."""
    with horsies_app.testing() as sandbox:
        yield sandbox
