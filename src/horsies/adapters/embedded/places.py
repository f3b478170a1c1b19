"""Where a project's server keeps its things."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from horsies.adapters.embedded.account import (
    ROOT,
    Account,
    server_account,
    unprivileged_account,
)

FOLDER = ".horsies"
POINTER = "location"
KEPT_FOR_ROOT = Path("/var/lib/horsies")
"""What root owns but the server's account must reach."""

# Not $TMPDIR: it differs between processes that have to meet, and may be too long for a socket.
SOCKETS = Path("/tmp")  # noqa: S108 - what is made there is private and checked


@dataclass(frozen=True, slots=True)
class Places:
    folder: Path
    """`.horsies` in the project."""
    home: Path
    """The folder itself, or where root keeps what the server's account could not reach there."""
    major: int
    """Versions cannot read each other's data: each has its own, and a server of its own."""
    account: Account

    @property
    def data(self) -> Path:
        return _data(self.home, self.major)

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def start_lock(self) -> Path:
        return self.home / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.home / f"pg{self.major}.users.lock"

    @property
    def alive_lock(self) -> Path:
        """Held by the server's own processes: seen even from another container."""
        return self.home / f"pg{self.major}.alive.lock"

    @property
    def pin(self) -> Path:
        return self.home / f"pg{self.major}.pinned"

    @property
    def sockets(self) -> Path:
        """Short whatever the project's path: a socket's path has at most 103 bytes."""
        return SOCKETS / f"horsies-{self.account.uid}-{_digest(self.home)}-{self.major}"


def find_places(project: Path, major: int) -> Places:
    """Only looks; nothing is made."""
    folder = project.resolve() / FOLDER
    home = _home(folder, major)
    return Places(folder, home, major, server_account(_data(home, major)))


def make_places(places: Places) -> None:
    places.folder.mkdir(parents=True, exist_ok=True)
    _write_once(places.folder / ".gitignore", "*\n")
    if places.home != places.folder:
        _make_passable(places.home)
        _write_once(places.folder / POINTER, f"{places.home}\n")
    elif not places.account.is_ours:
        _let_pass(places.folder)


def place_kept_for_root(name: str) -> Path:
    place = KEPT_FOR_ROOT / name
    _make_passable(place)
    return place


def _make_passable(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    _let_pass(place.parent)
    _let_pass(place)


def _let_pass(directory: Path) -> None:
    """Root's umask may be strict, and the server's account has to go through."""
    directory.chmod(directory.stat().st_mode | 0o711)


def _write_once(path: Path, text: str) -> None:
    """Again if it is empty: its writer was killed."""
    if not path.exists() or path.stat().st_size == 0:
        path.write_text(text)


def _home(folder: Path, major: int) -> Path:
    if os.geteuid() != ROOT:
        return folder
    pointer = folder / POINTER
    if pointer.exists() and (kept_at := pointer.read_text().strip()):
        return Path(kept_at)
    if _data(folder, major).exists():
        return folder
    if unprivileged_account().reaches(_nearest_existing(folder.parent)):
        return folder
    return KEPT_FOR_ROOT / _digest(folder)


def _data(home: Path, major: int) -> Path:
    return home / f"pg{major}"


def _nearest_existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
