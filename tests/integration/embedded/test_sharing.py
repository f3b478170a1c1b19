"""One server for all processes of a project, for as long as one of them uses it."""

import pytest

from horsies.adapters.embedded.server import EmbeddedServer
from tests.integration.embedded.users import ask, run_program


def test_an_acquired_server_answers_and_a_released_one_is_gone(bare_project, serve):
    server = serve(bare_project)
    dsn = server.acquire()
    assert ask(dsn, "SELECT current_database() || ' ' || current_user") == "horsies horsies"
    server.release()
    assert not server.status().running


def test_looking_at_a_server_neither_starts_it_nor_leaves_a_trace(bare_project, serve):
    server = serve(bare_project)
    status = server.status()
    assert (status.running, status.pid, status.pinned, status.version) == (False, None, False, None)
    assert status.dsn == server.dsn
    assert list(bare_project.iterdir()) == []


def test_a_running_server_tells_about_itself(server):
    with server:
        status = server.status()
        assert (status.running, status.pinned) == (True, False)
        assert (status.data / "postmaster.pid").read_text().startswith(f"{status.pid}\n")
        assert status.version.startswith("18.")
        assert status.log.exists()


def test_its_folder_is_kept_out_of_version_control(bare_project, serve):
    with serve(bare_project):
        assert (bare_project / ".horsies" / ".gitignore").read_text() == "*\n"


def test_acquiring_twice_needs_one_release(server):
    server.acquire()
    server.acquire()
    server.release()
    assert not server.status().running
    server.release()


def test_what_was_written_is_there_at_the_next_start(server):
    with server:
        ask(server.dsn, "CREATE TABLE kept AS SELECT 7 AS value")
    with server:
        assert ask(server.dsn, "SELECT value FROM kept") == 7


def test_a_database_beside_the_usual_one_has_its_own_dsn(server):
    with server:
        assert ask(server.dsn_of("postgres"), "SELECT current_database()") == "postgres"


def test_two_processes_share_one_server_and_the_last_stops_it(server, project, use):
    first, second = use(project), use(project)
    pid = first.served_by()
    assert second.served_by() == pid
    first.leave()
    assert server.status().pid == pid
    second.leave()
    assert not server.status().running


def test_eight_processes_that_start_at_once_get_one_server(bare_project, serve, use):
    server = serve(bare_project)
    users = [use(bare_project) for _ in range(8)]
    assert len({user.served_by() for user in users}) == 1
    for user in users:
        user.leave()
    assert not server.status().running


def test_a_killed_user_counts_no_more(server, project, use):
    killed, living = use(project), use(project)
    assert killed.served_by() == living.served_by()
    killed.kill()
    assert ask(server.dsn, "SELECT 1") == 1
    living.leave()
    assert not server.status().running


def test_a_server_outlives_the_process_that_started_it(server, project, use):
    starter = use(project)
    pid = starter.served_by()
    starter.kill()
    server.acquire()
    assert server.status().pid == pid
    assert ask(server.dsn, "SELECT 1") == 1


def test_a_pinned_server_stays_when_its_last_user_leaves(server, project, use):
    server.start()
    user = use(project)
    pid = user.served_by()
    user.leave()
    assert (server.status().pid, server.status().pinned) == (pid, True)
    assert server.stop()
    assert (server.status().running, server.status().pinned) == (False, False)


def test_a_server_can_be_pinned_while_it_is_used(server, project, serve):
    server.acquire()
    serve(project).start()
    server.release()
    assert server.status().running


def test_a_server_is_stopped_by_whoever_asks_and_its_user_starts_it_again(server, project, serve):
    server.acquire()
    assert serve(project).stop()
    assert not server.status().running
    server.acquire()
    assert server.status().running


def test_stopping_what_does_not_run_says_so(bare_project, serve):
    server = serve(bare_project)
    assert not server.stop()
    assert list(bare_project.iterdir()) == []
    with server:
        pass
    assert not server.stop()


def test_a_release_at_interpreter_exit_stops_the_server(server, project):
    done = run_program(
        """
        import atexit, sys
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        server = EmbeddedServer(Path(sys.argv[1]))
        atexit.register(server.release)
        server.acquire()
        """,
        project,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert server.status().log.exists()
    assert not server.status().running


def test_a_project_named_by_another_path_has_the_same_server(server, project):
    detour = project / ".." / project.name
    assert EmbeddedServer(detour).dsn == server.dsn


@pytest.mark.parametrize("setting", ["work_mem", "max_connections"])
def test_settings_are_added_and_override_ours(project, serve, setting):
    with serve(project, settings={"work_mem": "5MB", "max_connections": "33"}) as server:
        expected = {"work_mem": "5MB", "max_connections": "33"}[setting]
        assert ask(server.dsn, f"SHOW {setting}") == expected
