"""The data directory, which exists whole or not at all."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from horsies.adapters.embedded.account import Account
from horsies.adapters.embedded.errors import ServerStartError

USER = "horsies"
PATIENCE_SECONDS = 120


def ensure_data(data: Path, binaries: Path, account: Account) -> None:
    """Make it beside its place and rename it: an initdb that is killed leaves no half of it."""
    if data.exists():
        return
    drafts = f"{data.name}.draft-"
    for abandoned in data.parent.glob(f"{drafts}*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    # A name of its own: the initdb of a killed process may still be writing to an older one.
    draft = Path(tempfile.mkdtemp(prefix=drafts, dir=data.parent))
    try:
        account.give(draft, 0o700)
        _initdb(draft, binaries, account)
        draft.rename(data)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _initdb(directory: Path, binaries: Path, account: Account) -> None:
    command = [
        *(binaries / "initdb", "--pgdata", directory),
        *("--username", USER, "--auth", "trust"),
        *("--encoding", "UTF8", "--locale", "C"),
    ]
    try:
        subprocess.run(  # noqa: S603 - the program is the PostgreSQL that was chosen
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_SECONDS,
            **account.launch_options(),
        )
    except subprocess.CalledProcessError as error:
        raise ServerStartError(f"initdb made no database:\n{error.stderr}") from error
    except subprocess.TimeoutExpired as error:
        raise ServerStartError(
            f"initdb was not done after {PATIENCE_SECONDS} s: is the disk very slow?"
        ) from error
