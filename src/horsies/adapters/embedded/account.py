"""Under whose name the server runs: our own, or, since PostgreSQL refuses root, a lesser one."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from horsies.adapters.embedded.errors import EmbeddedServerError

UNPRIVILEGED = ("postgres", "nobody")
ROOT = 0


class LaunchOptions(TypedDict):
    user: int | None
    group: int | None
    extra_groups: Sequence[int] | None
    env: dict[str, str]
    cwd: str
    stdin: int
    start_new_session: bool


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int
    is_ours: bool

    def launch_options(self) -> LaunchOptions:
        """How to run a program of the server: away from our terminal and directory."""
        return LaunchOptions(
            user=None if self.is_ours else self.uid,
            group=None if self.is_ours else self.gid,
            extra_groups=None if self.is_ours else [],
            env=_environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def reaches(self, path: Path) -> bool:
        """Whether it may enter this directory, or run this program."""
        if self.is_ours:
            return True
        asked = subprocess.run(  # noqa: S603 - the program is fixed, the path is an argument
            ["/bin/sh", "-c", 'test -x "$1"', "sh", path],
            check=False,
            **self.launch_options(),
        )
        return asked.returncode == 0

    def give(self, path: Path | int, mode: int) -> None:
        """Make it the owner; a handle in place of a path cannot be swapped under us."""
        os.chmod(path, mode)  # noqa: PTH101 - the path may be a handle
        if not self.is_ours:
            os.chown(path, self.uid, self.gid)


def server_account(data: Path) -> Account:
    """The account for this data directory: as root, whoever owns it already."""
    if os.geteuid() != ROOT:
        return Account(os.geteuid(), os.getegid(), is_ours=True)
    if data.exists() and (owner := data.stat()).st_uid != ROOT:
        return Account(owner.st_uid, owner.st_gid, is_ours=False)
    return unprivileged_account()


def unprivileged_account() -> Account:
    import pwd  # noqa: PLC0415 - Windows has none, and must be told so in our own words

    for name in UNPRIVILEGED:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid, is_ours=False)
    raise EmbeddedServerError(
        "PostgreSQL does not run as root, and there is no account"
        f" {' or '.join(UNPRIVILEGED)} to run it: add one, run as another user,"
        " or set HORSIES_DATABASE_URL"
    )


def _environment() -> dict[str, str]:
    # It must be a locale that exists, and on macOS the postmaster does not start without one.
    return os.environ | {"LC_ALL": "C"}
