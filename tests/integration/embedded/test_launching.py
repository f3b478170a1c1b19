"""How the server is set apart from the process that starts it."""

import os
import shutil
import signal

import psutil
import pytest

from horsies.adapters.embedded import postmaster
from horsies.adapters.embedded.errors import (
    EmbeddedServerError,
    ServerStartError,
    UnsafeDirectoryError,
)
from horsies.domain.errors import BrokerError
from tests.integration.embedded.users import ask, run_program


def test_an_interrupt_at_the_terminal_does_not_reach_the_server(server):
    with server:
        assert os.getsid(server.status().pid) != os.getsid(0)


def test_the_server_is_no_child_of_the_process_that_started_it(server):
    with server:
        assert psutil.Process(server.status().pid).ppid() != os.getpid()


def test_the_server_holds_no_lock_but_its_own(server):
    with server:
        opened = psutil.Process(server.status().pid).open_files()
        held = [file.path for file in opened if ".horsies" in file.path and "lock" in file.path]
        assert held == [str(server._places.alive_lock)]


def test_the_server_listens_on_its_private_socket_only(server):
    with server:
        assert ask(server.dsn, "SHOW listen_addresses") == ""
        assert server._places.sockets.stat().st_mode & 0o777 == 0o700


def test_a_commit_is_durable_unless_settings_say_otherwise(project, serve):
    with serve(project, settings=None) as server:
        assert ask(server.dsn, "SHOW fsync") == "on"


def test_variables_meant_for_another_server_do_not_matter(server, monkeypatch):
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("LC_ALL", "xx_XX")
    with server:
        assert ask(server.dsn, "SHOW port") == "5432"


def test_a_project_with_a_very_long_path_is_served(open_folder, serve):
    project = open_folder.joinpath(*["a-rather-long-name-for-a-folder"] * 6)
    assert len(str(project)) > 150
    with serve(project) as server:
        assert ask(server.dsn, "SELECT 1") == 1


def test_a_project_with_odd_letters_in_its_path_is_served(open_folder, serve):
    with serve(open_folder / "größe & 100 % 'quoted'\t$HOME") as server:
        assert ask(server.dsn, "SELECT 1") == 1


def test_a_server_that_cannot_start_shows_the_end_of_its_log(project, serve):
    server = serve(project, settings={"nonsense": "1"})
    with pytest.raises(ServerStartError, match='unrecognized configuration parameter "nonsense"'):
        server.acquire()
    assert not server._membership.joined


def test_a_log_that_has_grown_large_is_put_aside(server, monkeypatch):
    with server:
        log = server.status().log
    monkeypatch.setattr(postmaster, "LOG_LIMIT_BYTES", log.stat().st_size - 1)
    before = log.read_text()
    with server:
        assert log.with_name("log.1").read_text() == before
        assert before not in log.read_text()


def test_a_socket_directory_that_is_a_link_is_refused(server, open_folder):
    theirs = open_folder / "theirs"
    theirs.mkdir()
    sockets = server._places.sockets
    sockets.symlink_to(theirs)
    try:
        with pytest.raises(UnsafeDirectoryError, match=f"{sockets} is not a directory of ours"):
            server.acquire()
    finally:
        sockets.unlink()
    assert list(theirs.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_socket_directory_of_another_user_is_refused(server):
    sockets = server._places.sockets
    sockets.mkdir(mode=0o777)
    os.chown(sockets, 4242, 4242)
    try:
        with pytest.raises(UnsafeDirectoryError, match="another user made it"):
            server.acquire()
        assert sockets.stat().st_uid == 4242
    finally:
        sockets.rmdir()


def test_a_socket_directory_that_others_may_enter_is_closed(server):
    sockets = server._places.sockets
    sockets.mkdir()
    sockets.chmod(0o777)
    with server:
        assert sockets.stat().st_mode & 0o777 == 0o700


def test_a_stopped_server_leaves_no_socket_directory(server):
    with server:
        pass
    assert not server._places.sockets.exists()


def test_a_project_that_was_removed_meanwhile_can_be_released(server, project):
    server.acquire()
    process = psutil.Process(server.status().pid)
    shutil.rmtree(project / ".horsies")
    server.release()
    assert not server._membership.joined
    process.send_signal(signal.SIGQUIT)  # it would notice by itself, a minute later
    process.wait(30)


def test_every_refusal_is_a_broker_error():
    assert issubclass(EmbeddedServerError, BrokerError)


def test_windows_is_told_what_to_do_when_it_is_used_not_when_it_is_imported():
    done = run_program(
        """
        import subprocess, sys, tempfile
        from pathlib import Path
        import psutil, psycopg

        sys.platform = "win32"
        sys.modules |= {"fcntl": None, "pwd": None}
        from horsies.adapters.embedded.server import EmbeddedServer
        EmbeddedServer(Path())
        """
    )
    assert done.stderr.endswith(
        "UnsupportedPlatformError: the embedded server runs on Linux and macOS only:"
        " set HORSIES_DATABASE_URL\n"
    )
