"""Why the embedded server cannot serve, and what to do about it."""

import sys

from horsies.domain.errors import BrokerError


class EmbeddedServerError(BrokerError):
    """The project's own PostgreSQL cannot serve."""


class UnsupportedPlatformError(EmbeddedServerError):
    """This system has no embedded server."""


class BinariesMissingError(EmbeddedServerError):
    """There is no PostgreSQL to run."""


class UnsafeDirectoryError(EmbeddedServerError):
    """A directory that must be ours alone belongs to somebody else."""


class ServerStartError(EmbeddedServerError):
    """The server did not come up; the message ends with the last lines of its log."""


class ServerStopError(EmbeddedServerError):
    """The server did not go."""


def refuse_unsupported_platform() -> None:
    if sys.platform == "win32":
        raise UnsupportedPlatformError(
            "the embedded server runs on Linux and macOS only: set HORSIES_DATABASE_URL"
        )
