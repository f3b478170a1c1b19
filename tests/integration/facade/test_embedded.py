"""An app without a database of its own starts one, says so, and stops it when it leaves."""

from pathlib import Path

import pytest

from horsies.adapters.embedded.server import EmbeddedServer
from tests.integration.embedded.users import run_program
from tests.postgres import open_folder

SHOP = """
    import logging, os, sys
    from horsies import Horsies, TaskError, TaskResult
    from tests.draining import drain

    os.chdir(sys.argv[1])
    app = Horsies(*sys.argv[2:])

    @app.task("double")
    def double(number: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=2 * number)
"""
LIVE = """
    handle = double.send(21)
    drain(app)
    print(handle.get(30_000).unwrap(), flush=True)
"""


@pytest.fixture
def folder(monkeypatch):
    for variable in ("HORSIES_DATABASE_URL", "DATABASE_URL", "HORSIES_EMBEDDED"):
        monkeypatch.delenv(variable, raising=False)
    with open_folder() as folder:
        yield folder


def is_running(folder: Path) -> bool:
    return EmbeddedServer(folder).status().running


def test_it_is_used_by_default_in_a_project_that_has_one_and_says_so(folder):
    (folder / ".horsies").mkdir()
    done = run_program(SHOP + LIVE, folder)
    assert done.stdout == "42\n"
    assert done.stderr == (
        f"no database is configured, so this is the embedded PostgreSQL of {folder}:"
        " set HORSIES_DATABASE_URL to use another\n"
    )
    assert not is_running(folder)


def test_who_asks_for_it_is_not_warned_but_finds_it_in_the_log(folder):
    program = SHOP + "    logging.basicConfig(level=logging.INFO, format='%(message)s')\n" + LIVE
    done = run_program(program, folder, "embedded:")
    assert done.stdout == "42\n"
    assert f"using the embedded PostgreSQL of {folder}" in done.stderr
    assert "HORSIES_DATABASE_URL" not in done.stderr


def test_the_variable_that_asks_for_it_is_enough(folder, monkeypatch):
    monkeypatch.setenv("HORSIES_EMBEDDED", "1")
    done = run_program(SHOP + LIVE, folder)
    assert (done.stdout, done.stderr) == ("42\n", "")


def test_a_service_that_lost_its_variable_does_not_get_one(folder):
    done = run_program(SHOP + "    print(double.send(1))", folder)
    assert "HRS-203" in done.stderr
    assert list(folder.iterdir()) == []


def test_its_last_user_stops_it_and_tasks_wait_for_the_next(folder):
    send = SHOP + "    double.send(1)"
    for _ in range(2):
        assert run_program(send, folder, "embedded:").stderr == ""
        assert not is_running(folder)
    count = SHOP + "    print(drain(app))"
    assert run_program(count, folder, "embedded:").stdout == "2\n"


def test_closing_stops_it_and_using_it_again_starts_it(folder):
    program = """
    from pathlib import Path
    from horsies.adapters.embedded.server import EmbeddedServer
    def running():
        return EmbeddedServer(Path()).status().running
    double.send(1)
    print(running())
    app.close()
    print(running())
    double.send(2)
    print(running(), drain(app))
    """
    done = run_program(SHOP + program, folder, "embedded:")
    assert (done.stdout.split(), done.stderr) == (["True", "False", "True", "2"], "")


def test_a_forked_child_neither_stops_it_nor_keeps_it(folder):
    program = """
    double.send(1)
    if os.fork() == 0:
        double.send(2)
        sys.exit()
    assert os.wait()[1] == 0
    print(drain(app))
    """
    done = run_program(SHOP + program, folder, "embedded:")
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert not is_running(folder)
