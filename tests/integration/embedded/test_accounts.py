"""Under whose name the server runs, and what that account can reach."""

import os
import pwd
from pathlib import Path

import psutil
import pytest

from horsies.adapters.embedded.account import unprivileged_account
from horsies.adapters.embedded.binaries import PROGRAMS, find_binaries
from horsies.adapters.embedded.errors import BinariesMissingError
from tests.integration.embedded.users import BECOME, ask

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two accounts")

NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = BECOME.format(uid=NOBODY.pw_uid, gid=NOBODY.pw_gid)


def owner_of(pid: int) -> int:
    return psutil.Process(pid).uids().effective


@pytest.fixture
def closed(open_folder: Path) -> Path:
    """A folder that only root can enter, as /root."""
    folder = open_folder / "closed"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def project_of_nobody(bare_project: Path) -> Path:
    os.chown(bare_project, NOBODY.pw_uid, NOBODY.pw_gid)
    return bare_project


def test_root_has_the_server_run_by_an_unprivileged_account(server):
    with server:
        assert owner_of(server.status().pid) == unprivileged_account().uid
        assert server.status().data.stat().st_uid == unprivileged_account().uid


def test_any_other_user_runs_the_server_itself(serve, project_of_nobody, use):
    user = use(project_of_nobody, AS_NOBODY)
    assert owner_of(user.served_by()) == NOBODY.pw_uid
    assert {path.stat().st_uid for path in (project_of_nobody / ".horsies").iterdir()} == {
        NOBODY.pw_uid
    }
    user.leave()
    assert not serve(project_of_nobody).status().running


def test_root_shares_the_server_of_the_user_who_owns_the_data(serve, project_of_nobody, use):
    user = use(project_of_nobody, AS_NOBODY)
    pid = user.served_by()
    root = serve(project_of_nobody)
    root.acquire()
    assert root.status().pid == pid
    user.leave()
    assert root.status().pid == pid


def test_root_starts_the_server_under_the_name_of_the_owner(serve, project_of_nobody, use):
    user = use(project_of_nobody, AS_NOBODY)
    user.served_by()
    user.leave()
    with serve(project_of_nobody) as root:
        assert owner_of(root.status().pid) == NOBODY.pw_uid
    after_root = use(project_of_nobody, AS_NOBODY)
    assert owner_of(after_root.served_by()) == NOBODY.pw_uid
    after_root.leave()


def test_a_user_is_told_that_the_folder_is_another_ones(server, project, use):
    with server:
        stranger = use(project, AS_NOBODY)
        _, complaint = stranger.process.communicate()
    assert "EmbeddedServerError: [Errno 13] Permission denied" in complaint
    assert f"is {project}/.horsies another user's?" in complaint


def test_data_is_kept_elsewhere_for_a_project_that_only_root_reaches(closed, kept_for_root, serve):
    with serve(closed / "project") as server:
        ask(server.dsn, "CREATE TABLE kept AS SELECT 7 AS value")
        home = server.status().data.parent
    assert home.parent == kept_for_root
    assert (closed / "project" / ".horsies" / "location").read_text() == f"{home}\n"


def test_data_kept_elsewhere_is_found_when_the_project_has_been_opened(closed, serve):
    with serve(closed / "project") as server:
        ask(server.dsn, "CREATE TABLE kept AS SELECT 7 AS value")
    closed.chmod(0o755)
    with serve(closed / "project") as server:
        assert ask(server.dsn, "SELECT value FROM kept") == 7


def test_a_pointer_whose_writer_was_killed_is_written_again(closed, serve):
    server = serve(closed / "project")
    pointer = closed / "project" / ".horsies" / "location"
    pointer.parent.mkdir(parents=True)
    pointer.touch()
    with server:
        assert pointer.read_text() == f"{server.status().data.parent}\n"


def test_a_strict_umask_does_not_lock_the_server_out(bare_project, serve):
    before = os.umask(0o077)
    try:
        with serve(bare_project) as server:
            assert ask(server.dsn, "SELECT 1") == 1
    finally:
        os.umask(before)


def test_binaries_that_only_root_reaches_are_copied_once(
    closed, bare_project, serve, kept_for_root
):
    (closed / "postgresql").symlink_to(find_binaries().path.parent)
    hidden = serve(bare_project, binaries=closed / "postgresql" / "bin")
    with hidden:
        assert ask(hidden.dsn, "SELECT 1") == 1
        program = Path(psutil.Process(hidden.status().pid).cmdline()[0])
    assert program.is_relative_to(kept_for_root)
    copied_at = program.stat().st_mtime_ns
    with hidden:
        assert program.stat().st_mtime_ns == copied_at
    assert hidden.binaries == closed / "postgresql" / "bin"


def test_binaries_that_cannot_be_copied_whole_are_refused(closed, project, serve):
    (closed / "bin").mkdir()
    for program in PROGRAMS:
        (closed / "bin" / program).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.0'")
        (closed / "bin" / program).chmod(0o755)
    with pytest.raises(BinariesMissingError, match="cannot be copied without lib and share"):
        serve(project, binaries=closed / "bin").acquire()
