"""`horsies db`, typed by hand on real servers: what it says, where, and how it exits."""

import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from horsies.adapters.embedded.server import EmbeddedServer
from horsies.adapters.postgres.migrate import migrations, newest
from horsies.entrypoints.cli.main import main
from tests.postgres import Servers, open_folder


def horsies(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["db", *arguments])


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A directory without a server, in a service that lost its variable."""
    for variable in ("HORSIES_DATABASE_URL", "DATABASE_URL", "HORSIES_EMBEDDED"):
        monkeypatch.delenv(variable, raising=False)
    with open_folder() as folder:
        monkeypatch.chdir(folder)
        yield folder
        EmbeddedServer(folder).stop()


@pytest.fixture
def embedded(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedServer:
    monkeypatch.setenv("HORSIES_EMBEDDED", "1")
    return EmbeddedServer(elsewhere)


@pytest.fixture
def bare_dsn(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    with servers.get().database("template1") as dsn:
        monkeypatch.setenv("HORSIES_DATABASE_URL", dsn)
        yield dsn


class TestMigrate:
    @pytest.mark.usefixtures("bare_dsn")
    def test_it_names_what_it_applied_and_the_version(self):
        done = horsies("migrate")
        assert done.exit_code == 0
        applied = [f"applied {name}" for name in migrations()]
        *told, last = done.stdout.splitlines()
        assert told == applied
        assert last == f"the tables have version {newest()}, schema public"

    @pytest.mark.usefixtures("bare_dsn")
    def test_the_second_time_there_is_nothing_to_apply(self):
        horsies("migrate")
        done = horsies("migrate")
        assert done.exit_code == 0
        assert done.stdout == f"the tables have version {newest()}, schema public\n"

    def test_it_takes_database_and_schema_from_an_app(self, bare_dsn, elsewhere, monkeypatch):
        monkeypatch.delenv("HORSIES_DATABASE_URL")
        monkeypatch.syspath_prepend(str(elsewhere))
        (elsewhere / "jobs_shop.py").write_text(
            "from horsies import AppConfig, Horsies, PostgresConfig\n"
            f"app = Horsies(AppConfig(broker=PostgresConfig({bare_dsn!r}, schema='jobs')))\n"
        )
        done = horsies("migrate", "jobs_shop:app")
        assert done.exit_code == 0
        assert done.stdout.endswith(f"the tables have version {newest()}, schema jobs\n")

    def test_tables_that_are_too_new_are_refused_in_one_sentence(self, bare_dsn):
        horsies("migrate")
        with psycopg.connect(bare_dsn) as owner:
            owner.execute("INSERT INTO horsies_schema (version, oldest_client) VALUES (99, 99)")
        done = horsies("migrate")
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == (
            "error: the tables have version 99, which serves clients from 99 on, and this Horsies"
            f" is {newest()}: upgrade Horsies\n"
        )

    def test_it_leaves_no_embedded_server_running(self, embedded):
        assert horsies("migrate").exit_code == 0
        assert not embedded.status().running


class TestStatus:
    @pytest.mark.usefixtures("bare_dsn")
    def test_missing_tables_are_told_with_the_remedy(self):
        done = horsies("status")
        assert done.exit_code == 1
        assert done.stdout.endswith(f"tables    none, this Horsies has version {newest()}\n")
        assert (
            done.stderr == "error: the tables of Horsies are not there: run `horsies db migrate`\n"
        )

    @pytest.mark.usefixtures("bare_dsn")
    def test_tables_of_the_present_version_are_in_order(self):
        horsies("migrate")
        done = horsies("status")
        assert (done.exit_code, done.stderr) == (0, "")
        assert f"tables    version {newest()}, this Horsies has version {newest()}" in done.stdout

    def test_a_password_is_never_shown(self, monkeypatch):
        monkeypatch.setenv("HORSIES_DATABASE_URL", "postgresql://ada:hunter2@127.0.0.1:1/shop")
        done = horsies("status")
        assert done.exit_code == 1
        assert done.stdout == "database  postgresql://ada:***@127.0.0.1:1/shop\n"
        assert re.fullmatch(r"error: the database cannot be reached \(.+\)\n", done.stderr)
        assert "hunter2" not in done.output

    @pytest.mark.usefixtures("embedded")
    def test_looking_neither_starts_a_server_nor_makes_a_folder(self, elsewhere):
        done = horsies("status")
        assert done.exit_code == 0
        assert "server    not running\n" in done.stdout
        assert list(elsewhere.iterdir()) == []

    @pytest.mark.usefixtures("embedded")
    def test_a_running_server_tells_where_it_is(self):
        horsies("start")
        horsies("migrate")
        done = horsies("status")
        assert done.exit_code == 0
        assert re.search(
            r"^server    running, pid \d+, until `horsies db stop`$", done.stdout, re.MULTILINE
        )
        assert re.search(r"^version   PostgreSQL \d+", done.stdout, re.MULTILINE)


class TestStartAndStop:
    def test_a_started_server_runs_until_it_is_stopped(self, embedded):
        assert horsies("start").stdout.startswith("running until `horsies db stop`, at postgresql:")
        assert embedded.status().pinned
        assert horsies("start").exit_code == 0
        assert horsies("stop").stdout == "stopped\n"
        assert not embedded.status().running
        assert horsies("stop").stdout == "it was not running\n"

    def test_starting_one_that_nobody_will_use_is_remarked_upon(self, monkeypatch):
        monkeypatch.setenv("DATABASE_URL", "postgresql://db/shop")
        told = horsies("start").stdout
        assert "note: DATABASE_URL is set, so apps here use that database instead\n" in told


class TestShell:
    def test_it_opens_psql_on_the_database(self, embedded):
        horsies("migrate")
        program = "from horsies.entrypoints.cli.main import main; main(['db', 'shell'])"
        done = subprocess.run(
            [sys.executable, "-c", program],
            input="\\pset tuples_only\nSELECT count(*) FROM horsies_tasks;\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout.split()[-1]) == (0, "0")
        assert not embedded.status().running

    @pytest.mark.usefixtures("bare_dsn")
    def test_without_psql_it_says_what_to_install(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        done = horsies("shell")
        assert done.exit_code == 1
        assert done.stderr == "error: psql is not installed: install PostgreSQL's client\n"


@pytest.mark.parametrize("command", ["migrate", "status", "shell"])
class TestAnyCommand:
    def test_no_database_is_a_fault_with_a_code(self, command):
        done = horsies(command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "error[HRS-203]: no database is configured" in done.stderr

    def test_a_variable_that_holds_no_dsn_is_named_and_not_quoted(self, command, monkeypatch):
        monkeypatch.setenv("DATABASE_URL", "hunter2")
        done = horsies(command)
        assert done.exit_code == 1
        assert done.stderr.startswith("error[HRS-202]: DATABASE_URL is not a DSN: ")
        assert "-->" not in done.stderr
        assert "hunter2" not in done.stderr

    @pytest.mark.parametrize("dsn", ["postgresql://ada:hunter2@db/shop", "password=hunter2"])
    def test_a_dsn_is_not_taken_from_the_command_line(self, command, dsn):
        done = horsies(command, dsn)
        assert done.exit_code == 2
        assert "set HORSIES_DATABASE_URL" in done.stderr
        assert "hunter2" not in done.stderr

    def test_an_app_that_is_not_there_is_a_fault_with_a_code(self, command):
        done = horsies(command, "no_such_shop:app")
        assert done.exit_code == 1
        assert "error[HRS-302]: module 'no_such_shop' cannot be imported" in done.stderr
