"""Programs that the server's account can run, copied once if they are out of its reach."""

import shutil
import tempfile
from pathlib import Path

from horsies.adapters.embedded.account import Account
from horsies.adapters.embedded.binaries import PROGRAMS, Binaries
from horsies.adapters.embedded.errors import BinariesMissingError
from horsies.adapters.embedded.locks import alone
from horsies.adapters.embedded.places import place_kept_for_root

PARTS = ("lib", "share")


def runnable_by(account: Account, binaries: Binaries) -> Path:
    """The bin directory to run: a virtual environment below /root is closed to others."""
    if account.reaches(binaries.path / "postgres"):
        return binaries.path
    copies = place_kept_for_root("binaries")
    copy = copies / f"postgresql-{binaries.version}"
    installation = binaries.path.resolve().parent
    with alone(copies / "copy.lock"):
        if not copy.exists():
            _copy_whole(installation, copy)
    return _inside(copy, installation) / "bin"


def _copy_whole(installation: Path, copy: Path) -> None:
    if not all((installation / part).is_dir() for part in PARTS):
        raise BinariesMissingError(
            f"the account that runs the server may not run what is in {installation}, and it"
            " cannot be copied without lib and share: make it readable, or set HORSIES_PG_BIN"
        )
    for abandoned in copy.parent.glob("draft-*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=copy.parent))
    try:
        _copy_parts(installation, draft)
        draft.rename(copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _copy_parts(installation: Path, draft: Path) -> None:
    place = _inside(draft, installation)
    (place / "bin").mkdir(parents=True)
    for program in PROGRAMS:
        shutil.copy(installation / "bin" / program, place / "bin" / program)
    for part in PARTS:
        # Static libraries are there to build against, not to run.
        static = shutil.ignore_patterns("*.a")
        shutil.copytree(installation / part, place / part, symlinks=True, ignore=static)
    _copy_libraries_of_wheel(installation.parent, place.parent)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def _inside(copy: Path, installation: Path) -> Path:
    """The same two levels as in the wheel, whose programs find their libraries by them."""
    return copy / installation.parent.name / installation.name


def _copy_libraries_of_wheel(package: Path, copy: Path) -> None:
    """They lie beside the package on Linux, and inside it on macOS."""
    for libraries in (Path("..", f"{package.name}.libs"), Path(".dylibs")):
        if (package / libraries).is_dir():
            shutil.copytree(package / libraries, copy / libraries, symlinks=True)
