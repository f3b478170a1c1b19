"""Whatever happens to the connection, those who wait are served."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import psycopg
import pytest

from horsies.adapters.postgres.completions import PostgresCompletions
from horsies.adapters.postgres.migrate import PostgresSchema
from horsies.adapters.postgres.queries import Queries
from tests.integration.completions.line import Line
from tests.integration.completions.scene import (
    NEVER,
    Database,
    completions_on,
    new_ids,
    until,
    wait_for,
)
from tests.postgres import Servers, link_to


async def test_a_killed_listener_is_replaced_and_nothing_is_missed(database: Database):
    missed, heard = new_ids(2)
    async with completions_on(link_to(database.dsn, poll_seconds=NEVER)) as completions:
        with completions.watch([missed]) as first, completions.watch([heard]) as second:
            await database.until_heard()
            await database.kill_listeners()
            await database.end_quietly(missed)
            assert await first.wait(None)
            await database.announce([heard])
            assert await second.wait(None)


async def test_a_connection_that_falls_silent_is_replaced(database: Database, line: Line):
    (task_id,) = new_ids(1)
    await line.open()
    link = link_to(line.dsn, poll_seconds=0.1)
    async with completions_on(link, answer_seconds=0.5) as completions:
        with completions.watch([task_id]) as watch:
            await database.until_heard()
            line.fall_silent()
            await database.end_quietly(task_id)
            assert await watch.wait(None)


async def test_closing_does_not_wait_for_a_server_that_is_silent(database: Database, line: Line):
    await line.open()
    async with completions_on(link_to(line.dsn, poll_seconds=0.1)) as completions:
        with completions.watch(new_ids(1)):
            await database.until_heard()
            line.fall_silent()
            (call,) = line.calls
            looks = call.said.count(b"horsies_task_history")
            await until(lambda: call.said.count(b"horsies_task_history") > looks)
            await completions.aclose()
    assert line.calls == [call]  # nobody called again to cancel the look


async def test_a_server_that_is_away_at_first_serves_when_it_is_there(
    database: Database, line: Line, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG, "horsies")
    (task_id,) = new_ids(1)
    async with completions_on(link_to(line.dsn, poll_seconds=NEVER)) as completions:
        waiting = asyncio.ensure_future(wait_for(completions, task_id))
        await until(lambda: caplog.text.count("without the database") > 1)
        await line.open()
        await database.until_heard()
        await database.announce([task_id])
        assert await waiting
    levels = [record.levelno for record in caplog.records if record.name == "horsies"]
    assert levels.count(logging.WARNING) == 1  # an outage is told once


async def test_tables_that_come_later_are_found(servers: Servers):
    (task_id,) = new_ids(1)
    with servers.get().database("template1") as dsn:
        database = Database(dsn)
        async with completions_on(link_to(dsn, poll_seconds=NEVER)) as completions:
            with completions.watch([task_id]) as watch:
                assert not await watch.wait(0.3)
                await PostgresSchema(link_to(dsn)).migrate()
                await database.end_quietly(task_id)
                assert await watch.wait(None)


class FaultyQueries(Queries):
    """Has a defect that goes away."""

    faults = 2

    def __call__(self, name: str) -> str:
        if self.faults:
            self.faults -= 1
            raise ZeroDivisionError
        return super().__call__(name)


async def test_a_defect_is_told_and_listening_goes_on(
    database: Database, caplog: pytest.LogCaptureFixture
):
    (task_id,) = new_ids(1)
    completions = PostgresCompletions(link_to(database.dsn), FaultyQueries("public"))
    async with asyncio.timeout(30):
        with completions.watch([task_id]) as watch:
            await database.end_quietly(task_id)
            assert await watch.wait(None)
        await completions.aclose()
    told = [record for record in caplog.records if record.name == "horsies"]
    assert [record.exc_info[0] for record in told if record.exc_info] == [ZeroDivisionError] * 2


@asynccontextmanager
async def without_encoding(dsn: str) -> AsyncGenerator[Database]:
    name = psycopg.conninfo.conninfo_to_dict(dsn)["dbname"] + "_ascii"
    outside = Database(dsn)
    await outside.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0")
    inside = psycopg.conninfo.make_conninfo(dsn, dbname=name)
    try:
        await PostgresSchema(link_to(inside)).migrate()
        yield Database(inside)
    finally:
        await outside.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_payload_that_is_no_text_does_no_harm(postgres_dsn: str):
    (task_id,) = new_ids(1)
    async with without_encoding(postgres_dsn) as database:
        link = link_to(database.dsn, poll_seconds=NEVER)
        async with completions_on(link) as completions:
            with completions.watch([task_id]) as watch:
                await database.until_heard()
                before = await database.listeners()
                await database.execute("SELECT pg_notify('horsies_task_done', E'\\xff\\xfe')")
                await database.announce([task_id])
                assert await watch.wait(None)
                assert await database.listeners() == before
