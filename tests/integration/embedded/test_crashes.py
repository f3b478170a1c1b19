"""Whatever is killed, the next user finds a working server and the data."""

import os
import signal
import subprocess
from contextlib import suppress

import psutil
import psycopg
import pytest

from horsies.adapters.embedded import postmaster, startup
from horsies.adapters.embedded.errors import ServerStartError
from horsies.adapters.embedded.locks import take_if_free
from horsies.adapters.embedded.sockets import PORT
from tests.integration.embedded.users import ask, run_program


def kill_postmaster(server) -> None:
    process = psutil.Process(server.status().pid)
    process.kill()
    process.wait(30)


@pytest.fixture
def writing(server):
    """A committed row, and a connection that is still open."""
    with psycopg.connect(server.acquire(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
        with suppress(psycopg.OperationalError):
            yield connection


def test_a_killed_server_is_started_again_with_its_data(server, writing):
    kill_postmaster(server)
    assert not server.status().running
    server.acquire()
    assert ask(server.dsn, "SELECT value FROM kept") == 7


@pytest.fixture
def stranger(server):
    """A process of the server's account: PostgreSQL itself takes it for a server."""
    options = server._places.account.launch_options()
    with subprocess.Popen(["sleep", "600"], **options) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("stale", ["pid file", "socket lock"])
def test_a_stale_file_that_names_a_live_stranger_is_no_server(server, stranger, stale):
    with server:
        data, sockets = server.status().data, server._places.sockets
    sockets.mkdir(exist_ok=True)
    named = data / "postmaster.pid" if stale == "pid file" else sockets / f".s.PGSQL.{PORT}.lock"
    named.write_text(f"{stranger.pid}\n{data}\n1\n{PORT}\n{sockets}\n\n")
    assert not server.status().running
    assert not server.stop()
    with server:
        assert ask(server.dsn, "SELECT 1") == 1
    assert stranger.poll() is None


def test_a_server_waits_for_the_rest_of_one_that_was_killed(server, project, writing, halted, use):
    lingering = writing.info.backend_pid
    halted(lingering)
    kill_postmaster(server)
    assert take_if_free(server._places.alive_lock) is None
    user = use(project)
    os.kill(lingering, signal.SIGCONT)
    assert user.served_by() == server.status().pid
    assert ask(server.dsn, "SELECT value FROM kept") == 7


def test_the_wait_for_the_rest_of_a_killed_server_is_bounded(server, writing, halted, monkeypatch):
    lingering = writing.info.backend_pid
    halted(lingering)
    kill_postmaster(server)
    with monkeypatch.context() as impatient:
        impatient.setattr(startup, "START_SECONDS", 0)
        with pytest.raises(ServerStartError, match="still in use") as caught:
            server.acquire()
    assert caught.value.retryable
    os.kill(lingering, signal.SIGCONT)
    server.acquire()


def test_the_wait_for_an_answer_is_bounded(server, project, serve, halted, monkeypatch):
    server.acquire()
    monkeypatch.setattr(startup, "START_SECONDS", 0)
    halted(server.status().pid)
    with pytest.raises(ServerStartError, match="did not answer") as caught:
        serve(project).acquire()
    assert caught.value.retryable


def test_a_server_that_does_not_stop_fast_is_stopped_at_once(server, writing, monkeypatch):
    monkeypatch.setattr(postmaster, "FAST_STOP_SECONDS", 0)
    assert server.stop()
    assert not server.status().running
    assert "received immediate shutdown request" in server.status().log.read_text()
    server.acquire()
    assert ask(server.dsn, "SELECT value FROM kept") == 7


def test_an_initdb_that_was_killed_leaves_no_half_of_a_database(bare_project, serve):
    server = serve(bare_project)
    done = run_program(
        """
        import os, sys, threading, time
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        folder = Path(sys.argv[1]) / ".horsies"

        def die_once_it_writes():
            while not list(folder.glob("*/PG_VERSION")):
                time.sleep(0.001)
            os.kill(os.getpid(), 9)

        threading.Thread(target=die_once_it_writes).start()
        EmbeddedServer(Path(sys.argv[1])).acquire()
        """,
        bare_project,
    )
    assert done.returncode == -signal.SIGKILL
    assert not server.status().data.exists()
    with server:
        assert ask(server.dsn, "SELECT 1") == 1
    assert not [path for path in (bare_project / ".horsies").iterdir() if "draft" in path.name]


def test_a_server_whose_end_nobody_collects_counts_as_stopped(server, project):
    become_init = 36  # PR_SET_CHILD_SUBREAPER, as the first process of a container is
    done = run_program(
        """
        import ctypes, sys
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        if not sys.platform.startswith("linux"):
            print("False")
            sys.exit()
        ctypes.CDLL(None).prctl(int(sys.argv[2]), 1, 0, 0, 0)
        server = EmbeddedServer(Path(sys.argv[1]))
        server.acquire()
        server.release()
        print(server.status().running)
        """,
        project,
        become_init,
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")
