"""A project's own PostgreSQL, shared by all processes that use it."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psycopg
from psycopg.sql import SQL, Identifier

from horsies.adapters.embedded.binaries import Binaries, find_binaries
from horsies.adapters.embedded.cluster import USER
from horsies.adapters.embedded.errors import EmbeddedServerError, refuse_unsupported_platform
from horsies.adapters.embedded.locks import Membership, alone
from horsies.adapters.embedded.places import Places, find_places, make_places
from horsies.adapters.embedded.postmaster import end_postmaster, find_postmaster
from horsies.adapters.embedded.sockets import PORT
from horsies.adapters.embedded.startup import Startup, connect
from horsies.domain.errors import BrokerFault

DATABASE = "horsies"


@dataclass(frozen=True, slots=True)
class EmbeddedStatus:
    running: bool
    pid: int | None
    pinned: bool
    version: str | None
    """Of the server that runs, as it says itself."""
    data: Path
    log: Path
    dsn: str


class EmbeddedServer:
    """Started by the first that acquires it, stopped when the last has released it.

    A user that is killed counts no more from that moment on. A forked child is no user until it
    acquires by itself. The `settings` are those of the process that starts the server.
    """

    def __init__(
        self,
        project: Path,
        *,
        binaries: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        refuse_unsupported_platform()
        self._project = project.resolve()
        self._asked_for = binaries
        self._settings = dict(settings or {})

    @property
    def dsn(self) -> str:
        return self.dsn_of(DATABASE)

    def dsn_of(self, database: str) -> str:
        """The same server, another database."""
        where = f"host={self._places.sockets}&port={PORT}"
        return f"postgresql://{USER}@/{quote(database, safe='')}?{where}"

    @property
    def binaries(self) -> Path:
        """The bin directory of the PostgreSQL in use."""
        return self._binaries.path

    def acquire(self) -> str:
        """Become a user, and see to it that the server runs; returns the DSN."""
        with self._starting():
            self._membership.join()
            try:
                self._serve()
            except BaseException:
                # A server that is still recovering goes on: stopped, it would begin anew.
                self._membership.leave()
                raise
        return self.dsn

    def release(self) -> None:
        """Stop being a user; the last one out stops the server, unless it was pinned."""
        if not self._membership.joined or not self._places.home.exists():
            self._membership.leave()
            return
        with self._alone():
            if self._membership.leave() and not self._places.pin.exists():
                end_postmaster(self._places)

    def start(self) -> None:
        """Start it, and let it run until `stop()`, whoever comes and goes."""
        with self._starting():
            self._serve()
            self._places.pin.touch()

    def stop(self) -> bool:
        """Stop it, whoever uses it; False if it did not run."""
        if not self._places.home.exists():
            return False
        with self._alone():
            self._places.pin.unlink(missing_ok=True)
            return end_postmaster(self._places)

    def status(self) -> EmbeddedStatus:
        with _told_plainly(self._places.home):
            process = find_postmaster(self._places.data)
            pinned = self._places.pin.exists()
        return EmbeddedStatus(
            running=process is not None,
            pid=process.pid if process else None,
            pinned=pinned,
            version=self._served_version() if process else None,
            data=self._places.data,
            log=self._places.log,
            dsn=self.dsn,
        )

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @cached_property
    def _binaries(self) -> Binaries:
        return find_binaries(self._asked_for)

    @cached_property
    def _places(self) -> Places:
        with _told_plainly(self._project):
            return find_places(self._project, self._binaries.major)

    @cached_property
    def _membership(self) -> Membership:
        return Membership(self._places.users_lock)

    @contextmanager
    def _starting(self) -> Generator[None]:
        with _told_plainly(self._places.home):
            make_places(self._places)
        with self._alone():
            yield

    @contextmanager
    def _alone(self) -> Generator[None]:
        with _told_plainly(self._places.home), alone(self._places.start_lock):
            yield

    def _serve(self) -> None:
        admin_dsn = self.dsn_of("postgres")
        Startup(self._places, self._binaries, self._settings, admin_dsn).run()
        with connect(admin_dsn) as connection:
            known = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if known is None:
                connection.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))

    def _served_version(self) -> str | None:
        try:
            with connect(self.dsn_of("postgres")) as connection:
                return connection.info.parameter_status("server_version")
        except psycopg.OperationalError:
            return None


@contextmanager
def _told_plainly(home: Path) -> Generator[None]:
    try:
        yield
    except PermissionError as error:
        raise EmbeddedServerError(
            f"{error}: is {home} another user's? Run as that user, remove it, or set"
            " HORSIES_DATABASE_URL",
            fault=BrokerFault.DENIED,
        ) from error
    except (OSError, psycopg.Error) as error:
        raise EmbeddedServerError(
            f"the server in {home} cannot be used: {error}", fault=BrokerFault.UNKNOWN
        ) from error
