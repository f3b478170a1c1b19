"""How a connection to PostgreSQL is made, and what it carries."""

from dataclasses import dataclass
from hashlib import sha256

from psycopg.conninfo import conninfo_to_dict, make_conninfo

LOCK_TIMEOUT_MS = 500
"""Nobody waits longer for a row: it is held by someone who may be slow for any reason."""

NOTIFY_SETTING = "horsies.notify"
"""Read by the trigger that announces new tasks."""

_LONGEST_SUFFIX = 40  # with it a channel's name stays below the 63 bytes PostgreSQL takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One database and one schema in it; `session_settings=False` suits poolers."""

    dsn: str
    listen_dsn: str
    schema: str = "public"
    pool_min_size: int = 1
    pool_max_size: int = 10
    statement_timeout_ms: int | None = 60_000
    keepalives: bool = True
    session_settings: bool = True
    notify: bool = True
    poll_seconds: float = 5.0

    def conninfo(self, role: str, *, listening: bool = False) -> str:
        """For the driver: the DSN, with what it leaves open filled in."""
        given = conninfo_to_dict(self.listen_dsn if listening else self.dsn)
        wanted: dict[str, str | int | None] = {
            "application_name": f"horsies {role}",
            "connect_timeout": 10,
        }
        if self.keepalives:
            wanted |= {
                "keepalives": 1,
                "keepalives_idle": 30,
                "keepalives_interval": 10,
                "keepalives_count": 3,
                "tcp_user_timeout": 60_000,
            }
        filled = {**wanted, **given}
        if self.session_settings or listening:
            flags = " ".join(_flag(*setting) for setting in self.settings().items())
            filled["options"] = f"{given.get('options', '')} {flags}".strip()
        return make_conninfo("", **filled)

    def settings(self) -> dict[str, str]:
        """What every statement of ours lives by.

        The plans of a queue must not change with its statistics, which are never true: an empty
        table that is filled within a second would be scanned as a whole.
        """
        return {
            "timezone": "UTC",
            "statement_timeout": str(self.statement_timeout_ms or 0),
            "lock_timeout": str(LOCK_TIMEOUT_MS),
            "idle_in_transaction_session_timeout": str(self.statement_timeout_ms or 0),
            "default_transaction_isolation": "read committed",
            "enable_seqscan": "off",
            "enable_bitmapscan": "off",
            "plan_cache_mode": "force_generic_plan",
            "jit": "off",
            NOTIFY_SETTING: "on" if self.notify else "off",
        }

    def settings_of_transactions(self) -> dict[str, str]:
        """Behind a pooler a session has no settings of its own, so each transaction brings them."""
        return {} if self.session_settings else self.settings()

    def settings_of_callers(self) -> dict[str, str]:
        """Their transaction is theirs; only that nothing is announced is ours to say."""
        return {} if self.notify else {NOTIFY_SETTING: "off"}

    @property
    def new_channel(self) -> str:
        return self._channel("horsies_task_new")

    @property
    def done_channel(self) -> str:
        return self._channel("horsies_task_done")

    @property
    def control_channel(self) -> str:
        return self._channel("horsies_control")

    def lock_name(self, purpose: str) -> str:
        """Advisory locks are database-wide, so each schema has its own."""
        return f"horsies {self.schema} {purpose}"

    def _channel(self, name: str) -> str:
        """Channels are database-wide too."""
        if self.schema == "public":
            return name
        if len(self.schema) <= _LONGEST_SUFFIX:
            return f"{name}_{self.schema}"
        return f"{name}_{sha256(self.schema.encode()).hexdigest()[:16]}"


def _flag(name: str, value: str) -> str:
    escaped = value.replace(" ", "\\ ")
    return f"-c {name}={escaped}"
