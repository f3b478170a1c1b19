"""What holds for every test."""

import os

from hypothesis import settings

from tests.postgres import postgres_dsn, reachable_project, servers

__all__ = ["postgres_dsn", "reachable_project", "servers"]

settings.register_profile("default", deadline=None)  # no timing is asserted
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
