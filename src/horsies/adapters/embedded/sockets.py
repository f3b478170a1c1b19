"""The directory of the server's socket: whoever may enter it may use the database."""

import os
from contextlib import suppress
from pathlib import Path

from horsies.adapters.embedded.account import Account
from horsies.adapters.embedded.errors import UnsafeDirectoryError

PORT = 5432
"""Only part of the socket's name; said outright, for PGPORT would change the default."""


def make_private(directory: Path, account: Account) -> None:
    """Make it ours alone, or refuse: anybody can put something there before us."""
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    # Asked of a handle: what the name stands for can change after it was looked at.
    handle = _open(directory)
    try:
        # As root it may still be root's own, if we were killed before giving it away.
        if os.fstat(handle).st_uid not in {account.uid, os.geteuid()}:
            raise _unsafe(directory, "another user made it")
        account.give(handle, 0o700)
    finally:
        os.close(handle)


def forget_socket(directory: Path) -> None:
    """Drop what a killed server left; its lock may name a process that is not PostgreSQL."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (directory / name).unlink(missing_ok=True)


def _open(directory: Path) -> int:
    try:
        return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _unsafe(directory, str(error.strerror)) from error


def _unsafe(directory: Path, why: str) -> UnsafeDirectoryError:
    return UnsafeDirectoryError(
        f"{directory} is not a directory of ours ({why}): the server's socket has to be private."
        " Find out who made it and remove it, or set HORSIES_DATABASE_URL"
    )
