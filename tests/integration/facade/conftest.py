"""An app on a database, as its users have it, and somebody who runs its tasks."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from horsies import AppConfig, Horsies, PostgresConfig, TaskError, TaskResult
from horsies.entrypoints.task import SyncTask
from tests.draining import drain

PATIENCE_MS = 30_000


async def until(true: Callable[[], object]) -> None:
    """The server brings it about."""
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while not await asyncio.to_thread(true):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)


class Shop:
    """Its tasks run when `run` is called."""

    def __init__(self, dsn: str, **settings: Any) -> None:
        self.dsn = dsn
        self.app = Horsies(AppConfig(broker=PostgresConfig(dsn, **settings)))
        self.double: SyncTask[[int], int] = define_double(self.app)

    def run(self) -> int:
        return drain(self.app)

    def ask(self, statement: str, *values: object) -> Any:
        """The first value of the first row, by somebody else's connection."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            row = connection.execute(statement.encode(), values).fetchone()
            return None if row is None else row[0]

    def do(self, *statements: str) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def sessions(self, role: str = "%") -> int:
        return self.ask(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE %s",
            f"horsies {role}",
        )

    def is_listening(self) -> bool:
        return self.sessions("listener") == 1

    def is_left_alone(self) -> bool:
        return self.sessions() == 0


def define_double(app: Horsies) -> SyncTask[[int], int]:
    @app.task("double")
    def double(number: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=2 * number)

    return double


@pytest.fixture
def open_shop(postgres_dsn: str) -> Generator[Callable[..., Shop]]:
    shops: list[Shop] = []

    def make(**settings: Any) -> Shop:
        shops.append(Shop(postgres_dsn, **settings))
        return shops[-1]

    yield make
    for shop in shops:
        shop.app.close()


@pytest.fixture
def shop(open_shop: Callable[..., Shop]) -> Shop:
    return open_shop()


@pytest.fixture
def threads() -> Generator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as threads:
        yield threads
