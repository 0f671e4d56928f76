"""PostgreSQL URLs: read as libpq reads them, and shown without secrets.

libpq itself splits a URL, so that no other parser can disagree with it about where a password ends. It also says which
parameters are secret (`password`, `sslpassword`, …): those never leave `ConnectionParameters`.
"""

import re
from urllib.parse import quote

from answerable.core.errors import UserError

SCHEMES = ("postgresql", "postgres")
_HOST = re.compile(r"[\w.:%~-]*|[/@].*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONNINFO = re.compile(r"(?i)(?:^|[\s'])(?:password|sslpassword|host|hostaddr|dbname|user|service|passfile)\s*=")


class ConnectionParameters(dict[str, str]):
    """Parameters of a connection by libpq's names. Their `repr` shows none of them, because some are secret."""

    secret: frozenset[str] = frozenset()
    """Names of those that may not be shown."""

    def __repr__(self) -> str:
        return "<parameters of a connection>"


def parsed(url: str) -> ConnectionParameters:
    import psycopg
    from psycopg.pq import Conninfo

    if not url.isprintable():  # libpq would stop reading at a zero byte, and connect to something else
        raise _invalid()
    try:
        options = [option for option in Conninfo.parse(url.encode()) if option.val is not None]
        parameters = ConnectionParameters({option.keyword.decode(): (option.val or b"").decode() for option in options})
    except (psycopg.Error, UnicodeError):
        # The complaint may quote the URL, password and all, so it is neither shown nor chained.
        raise _invalid() from None
    parameters.secret = frozenset(option.keyword.decode() for option in options if option.dispchar)
    if not _is_unambiguous(url, parameters) or not _are_ports(parameters.get("port", "")):
        raise _invalid()
    return parameters


def _are_ports(ports: str) -> bool:
    """libpq takes any text here, and complains only when it connects. A list of hosts may have a list of ports."""
    numbers = [port for port in ports.split(",") if port]
    return all(port.isascii() and port.isdigit() and 1 <= int(port) <= 65535 for port in numbers)


def shown_url(url: str) -> str:
    """The URL without secrets, always in the same form; only its scheme if libpq could not read it."""
    scheme = url.partition("://")[0]
    try:
        parameters = parsed(url)
    except UserError:
        return f"{scheme}://…"
    rest = {name: value for name, value in parameters.items() if name not in parameters.secret}
    user, database = quote(rest.pop("user", ""), safe=""), quote(rest.pop("dbname", ""), safe="")
    place = _place(rest)
    query = "&".join(f"{name}={quote(value, safe='/:,')}" for name, value in rest.items())
    slash = "/" if database or query else ""
    return f"{scheme}://{user}{'@' if user else ''}{place}{slash}{database}{'?' if query else ''}{query}"


def is_connection_string(location: str) -> bool:
    """Whether this is libpq's other form, `host=… password=…`, which is no path and must not be shown as one."""
    return _SCHEME.match(location) is None and _CONNINFO.search(location) is not None


def _place(rest: dict[str, str]) -> str:
    """Takes host and port out of the parameters. Folders of sockets and lists of hosts stay there."""
    host = rest.get("host", "")
    if not host or host.startswith(("/", "@")) or "," in host:
        return ""
    port = rest.pop("port", "")
    del rest["host"]
    return (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")


def _is_unambiguous(url: str, parameters: ConnectionParameters) -> bool:
    """Whether what libpq takes for host, port and database can be that. An unencoded `@` or `/` in a password makes
    libpq take the rest of the password for them, and they are shown."""
    ports = [port for port in parameters.get("port", "").split(",") if port]
    hosts = parameters.get("host", "").split(",")
    authority = url.partition("://")[2]
    credentials, at, rest = authority.partition("@")
    if not at or "/" in credentials:
        rest = authority.partition("?")[0]  # `?user=name@server` is common, and no password can end there
    return (
        all(port.isascii() and port.isdigit() and 0 < int(port) < 65536 for port in ports)
        and all(_HOST.fullmatch(host) for host in hosts)
        and "@" not in rest
    )


def _invalid() -> UserError:
    return UserError(
        "This is not a PostgreSQL URL that can be read.",
        code="source_url_invalid",
        hint="Write it as postgresql://user:password@host:5432/database; encode special characters as %40.",
    )
