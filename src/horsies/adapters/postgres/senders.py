"""Connections for sends from plain code, each used by one thread at a time.

There is no thread behind them: a process that only sends needs none, a fork loses none, and lending
one costs next to nothing, which a pool with workers cannot say. What fails says why at once.
"""

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic

from psycopg import Connection
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, Format, TransactionStatus

from horsies.adapters.postgres.link import Link
from horsies.adapters.postgres.rows import Row
from horsies.domain.errors import BrokerError, BrokerFault

WAIT_FOR_ROOM_SECONDS = 10.0
LONGEST_LIFE_SECONDS = 3600.0
LONGEST_IDLENESS_SECONDS = 600.0

_NAME = b"horsies_send"


class SenderConnection(Connection[Row]):
    """One on which a single statement is asked again and again, without a cursor's book-keeping.

    Cursors find out each time how their values are written and whether the statement is prepared,
    which takes longer than all the rest of a send that happens on this side of the line.
    """

    born_at = 0.0
    idle_since = 0.0
    _sends_by: tuple[bytes, str] | None = None
    """The statement, and the encoding of this session."""

    def send_one(
        self, statement: bytes, values: Sequence[str | None], formats: Sequence[Format]
    ) -> None:
        """A text in binary format cannot be cut short by what is in it."""
        with self.lock:
            if self._sends_by is None or self._sends_by[0] != statement:
                self._ask(self.pgconn.send_prepare, _NAME, statement)
                self._sends_by = statement, self.info.encoding
            encoding = self._sends_by[1]
            encoded = [None if value is None else value.encode(encoding) for value in values]
            self._ask(self.pgconn.send_query_prepared, _NAME, encoded, formats)

    def _ask(self, ask: Callable[..., None], *about: object) -> None:
        ask(*about)
        (answer,) = self.wait(execute(self.pgconn))
        if answer.status != ExecStatus.COMMAND_OK:
            raise error_from_result(answer, encoding=self.info.encoding)


class SenderConnections:
    """The one that was used last is lent first: what is not needed grows old and is closed."""

    def __init__(self, link: Link) -> None:
        self._conninfo = link.conninfo("producer")
        self._prepare_threshold = 5 if link.session_settings else None
        self._kept = link.pool_min_size
        self._lock = Lock()
        self._idle: list[SenderConnection] = []
        self._closed = False
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(link.pool_max_size):
            self._room.put(None)

    def lend(self) -> SenderConnection:
        try:
            self._room.get(timeout=WAIT_FOR_ROOM_SECONDS)
        except Empty:
            words = "no connection to the database came free in time"
            raise BrokerError(words, fault=BrokerFault.BUSY) from None
        try:
            return self._ready_one()
        except BaseException:
            self._room.put(None)
            raise

    def take_back(self, connection: SenderConnection) -> None:
        """One in an unclear state is closed."""
        connection.idle_since = monotonic()
        with self._lock:
            is_clear = connection.pgconn.transaction_status == TransactionStatus.IDLE
            if is_clear and not self._closed:
                self._idle.append(connection)
                to_close = self._outworn()
            else:
                to_close = connection
        if to_close is not None:
            to_close.close()
        self._room.put(None)

    def mistrust_all(self) -> None:
        """What befell one connection has mostly befallen all that are kept ready."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Those that are lent are closed when they come back."""
        self._closed = True
        self.mistrust_all()

    def _ready_one(self) -> SenderConnection:
        now = monotonic()
        with self._lock:
            if self._closed:
                raise BrokerError("this app is closed", fault=BrokerFault.CLOSED)
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            if now - connection.born_at < LONGEST_LIFE_SECONDS:
                return connection
            connection.close()
        made = SenderConnection.connect(
            self._conninfo, autocommit=True, prepare_threshold=self._prepare_threshold
        )
        made.born_at = now
        return made

    def _outworn(self) -> SenderConnection | None:
        """The one that nobody has needed for longest, if that is too long."""
        if len(self._idle) <= self._kept:
            return None
        idle_for = monotonic() - self._idle[0].idle_since
        return self._idle.pop(0) if idle_for > LONGEST_IDLENESS_SECONDS else None
