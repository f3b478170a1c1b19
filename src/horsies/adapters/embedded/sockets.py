"""The directory of the server's socket: whoever may enter it may use the database."""

import os
import stat
from pathlib import Path

from horsies.adapters.embedded.account import Account
from horsies.adapters.embedded.errors import UnsafeDirectoryError

PORT = 5432
"""Only part of the socket's name; said outright, for PGPORT would change the default."""


def make_private(directory: Path, account: Account) -> None:
    """Make it ours alone, or refuse: anybody can put something there before us."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        _refuse_foreign(directory, account)
    handle = _open(directory)
    try:
        # Asked of the handle: what the name stands for can change after it was looked at.
        if os.fstat(handle).st_uid not in _owners(account):
            raise _unsafe(directory, "belongs to another user")
        account.give(handle, 0o700)
    finally:
        os.close(handle)


def forget_socket(directory: Path) -> None:
    """Drop what a killed server left; its lock may name a process that is not PostgreSQL."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (directory / name).unlink(missing_ok=True)


def _refuse_foreign(directory: Path, account: Account) -> None:
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise _unsafe(directory, "is not a directory")
    if found.st_uid not in _owners(account):
        raise _unsafe(directory, "belongs to another user")


def _owners(account: Account) -> set[int]:
    # As root it may still be root's own, if we were killed before giving it away.
    return {account.uid, os.geteuid()}


def _open(directory: Path) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _unsafe(directory: Path, why: str) -> UnsafeDirectoryError:
    return UnsafeDirectoryError(
        f"{directory} {why}: the server's socket has to be private. Remove it, or find out"
        " who made it; or set HORSIES_DATABASE_URL"
    )
