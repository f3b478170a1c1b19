"""Connection strings: which ones can be used, and how they look without their secrets.

The grammar is libpq's. Text that is not understood is never shown at all: a password that was not
quoted or encoded could be anywhere in it.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

HIDDEN = "***"
EMBEDDED = "embedded:"
"""The project's own server; a directory other than the current one may follow."""

_SECRET = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
_SHOWN = frozenset(
    {"host", "hostaddr", "port", "dbname", "user", "service", "application_name"}
    | {"sslmode", "sslrootcert", "sslcert", "sslkey", "passfile", "target_session_attrs"}
    | {"connect_timeout", "load_balance_hosts", "client_encoding", "channel_binding"}
)
_SCHEME = re.compile(r"postgres(?:ql(?:\+psycopg)?)?://")
_AFTER_SCHEME = re.compile(
    r"(?:(?P<user>[^:@/]*)(?P<password>:[^@/]*)?@)?(?P<hosts>[^/?]*)"
    r"(?P<dbname>/[^?]*)?(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_PAIR = re.compile(
    r"\s*(?P<key>[A-Za-z_]\w*)\s*=\s*(?:'(?:[^'\\]|\\.)*'|(?!')(?:[^\s\\]|\\.|\\\Z)*)",
    re.ASCII | re.DOTALL,
)


class UnusableDsnError(ValueError):
    """Says why in words that hold nothing of the DSN itself."""


def normalise_dsn(text: str) -> str:
    """The DSN as the driver takes it.

    >>> normalise_dsn("postgresql+psycopg://localhost/shop")
    'postgresql://localhost/shop'
    """
    return _read(text)[0]


def mask_dsn(text: str) -> str:
    """The DSN as it may be shown.

    >>> mask_dsn("postgres://ada:hunter2@db/shop?sslpassword=x")
    'postgres://ada:***@db/shop?sslpassword=***'
    >>> mask_dsn(r"host=db password='it\\'s secret'")
    'host=db password=***'
    >>> mask_dsn("hunter2")
    '***'
    """
    try:
        return _read(text)[1]
    except UnusableDsnError:
        return HIDDEN


def _read(text: str) -> tuple[str, str]:
    """The DSN for the driver, and for human eyes."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise UnusableDsnError("it holds characters that are not text")
    url = text.strip()
    if not url:
        raise UnusableDsnError("it is empty")
    if url.startswith(EMBEDDED):
        return url, url
    if scheme := _SCHEME.match(url):
        normalised = scheme.group().replace("+psycopg", "") + url[scheme.end() :]
        return normalised, scheme.group() + _masked_url(url[scheme.end() :])
    return text, " ".join(_masked_pairs(text))


def _masked_url(rest: str) -> str:
    parts = _AFTER_SCHEME.fullmatch(rest)
    assert parts is not None, "the expression matches any text"
    user, password, hosts, dbname, query = (part or "" for part in parts.groups())
    if _BAD_ESCAPE.search(rest):
        raise UnusableDsnError("a % in it begins no escape (%25 stands for the % itself)")
    if "@" in hosts + dbname:
        raise UnusableDsnError("it has an @ too many (%40 stands for an @, %2F for a /)")
    if not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise UnusableDsnError("a host or port in it is malformed")
    shown_query = "&".join(_masked_query(query))
    if "@" in query:  # an unescaped ? or / in a password would have brought us here
        return HIDDEN
    if parts["user"] is not None:
        user += f":{HIDDEN}@" if password else "@"
    return user + hosts + dbname + (f"?{shown_query}" if query else "")


def _masked_query(query: str) -> Iterator[str]:
    for pair in filter(None, query.split("&")):
        key, equals, _ = pair.partition("=")
        if not equals:
            raise UnusableDsnError("a parameter in it has no value")
        yield _masked(unquote(key), pair)


def _masked_pairs(text: str) -> Iterator[str]:
    end = len(text.rstrip(" \t\n\r\f\v"))
    position = 0
    while position < end:
        pair = _PAIR.match(text, position)
        if pair is None:
            raise UnusableDsnError("it is neither a postgresql:// URL nor key=value pairs")
        yield _masked(pair["key"], pair.group().strip())
        position = pair.end()


def _masked(key: str, pair: str) -> str:
    """Keys that libpq does not know are hidden as well: they may be the rest of a password."""
    if key.lower() in _SECRET:
        return f"{key}={HIDDEN}"
    return pair if key.lower() in _SHOWN else HIDDEN
