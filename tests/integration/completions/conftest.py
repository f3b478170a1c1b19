"""What the laws of waiting need."""

from collections.abc import AsyncGenerator

import pytest

from tests.integration.completions.line import Line
from tests.integration.completions.scene import Database


@pytest.fixture
def database(postgres_dsn: str) -> Database:
    return Database(postgres_dsn)


@pytest.fixture
async def line(postgres_dsn: str) -> AsyncGenerator[Line]:
    async with Line(postgres_dsn) as line:
        yield line
