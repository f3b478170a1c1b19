"""A fresh workbench for each law."""

import pytest

from tests.unit.application.usecases.bench import Bench
from tests.unit.application.usecases.bench import bench as new_bench


@pytest.fixture
def bench() -> Bench:
    return new_bench()
