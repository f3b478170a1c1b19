"""Real workers on a database of their own: one for each test, or one for all tests of a file."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.integration.worker.scene import Scene, scene_on
from tests.postgres import Servers


@pytest.fixture
def scene(servers: Servers, tmp_path: Path) -> Generator[Scene]:
    with servers.get().database() as dsn, scene_on(dsn, tmp_path) as scene:
        yield scene


@pytest.fixture(scope="module")
def shared(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Generator[Scene]:
    with (
        servers.get().database() as dsn,
        scene_on(dsn, tmp_path_factory.mktemp("shared")) as scene,
    ):
        yield scene
