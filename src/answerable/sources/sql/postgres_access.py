"""What a connection to PostgreSQL may use: everything of the operator's environment if the operator named the database;
nothing but the URL, and only hosts that the operator allows, if somebody else did."""

import os
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from answerable.core.errors import RefusedError, SourceError
from answerable.core.records import dataclass
from answerable.sources.sql.postgres_url import ConnectionParameters

_CALLERS_PARAMETERS = frozenset(
    ("user", "password", "host", "port", "dbname", "sslmode", "channel_binding", "options", "application_name")
)
"""Those that say nothing about files, sockets, services or other addresses of the server's machine."""
_NOTHING_OF_THE_OPERATORS = {
    "passfile": "/nonexistent/pgpass",  # libpq would look into the home folder if none were named
    "sslcert": "/nonexistent/certificate",
    "sslkey": "/nonexistent/key",
    "sslcertmode": "disable",
    "gssencmode": "disable",
    "require_auth": "!gss,!sspi",  # tickets of Kerberos are the operator's too
}
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
UNREACHABLE = (
    "source_unreachable",
    "The database cannot be reached, or does not let this user in.",
    "Check the URL. Whoever runs the server can find out more with `answerable sources show URL`.",
)
"""Every failure to connect to an address that a caller named: else it would tell open ports from closed ones."""


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The hosts whose databases may be added by somebody who is not the operator."""

    names: frozenset[str] = frozenset()
    """As written in the URL, in small letters; with or without a port."""
    loopback: bool = False
    """Whether databases on this machine may be added: for a server that only this machine can reach."""

    def check(self, parameters: ConnectionParameters) -> None:
        """Refuses what this caller may not use. Looks up no name, so that it tells nothing about the network."""
        forbidden = sorted(set(parameters) - _CALLERS_PARAMETERS)
        if forbidden:
            raise RefusedError(
                f"The parameter {forbidden[0]!r} may be used only by whoever runs the server.",
                code="source_parameter_refused",
                hint="Leave it out, or have the source added to the settings.",
            )
        host, port = parameters.get("host", "").lower().rstrip("."), parameters.get("port", "5432")
        if not ({host, f"{host}:{port}"} & self.names or (self.loopback and host in _LOOPBACK_NAMES)):
            raise RefusedError(
                "Databases on this host may not be added here.",
                code="source_host_refused",
                hint="Whoever runs the server can allow the host with the setting `source_hosts`.",
            )

    def with_address(self, parameters: ConnectionParameters) -> ConnectionParameters:
        """The parameters with the address that was checked, so that the connection looks up no name again: whoever
        owns the name could answer with another address the second time."""
        self.check(parameters)
        try:
            found = socket.getaddrinfo(parameters["host"], None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise unreachable() from None
        addresses = [str(each[4][0]) for each in found]
        if not all(self._is_allowed(address) for address in addresses):
            raise unreachable()
        own = ConnectionParameters({**parameters, **_NOTHING_OF_THE_OPERATORS, "hostaddr": addresses[0]})
        own.secret = parameters.secret
        return own

    def _is_allowed(self, text: str) -> bool:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
        # `::ffff:127.0.0.1` is the loopback address, too.
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if address.is_loopback:
            return self.loopback
        return not (address.is_link_local or address.is_unspecified or address.is_multicast or address.is_reserved)


def unreachable() -> SourceError:
    code, message, hint = UNREACHABLE
    return SourceError(message, code=code, hint=hint)


def with_environment(parameters: ConnectionParameters) -> ConnectionParameters:
    """The operator's own connection: every variable that libpq reads, and `.pgpass`. A worker has no environment, so it
    gets them by name."""
    from psycopg.pq import Conninfo

    variables = {option.keyword.decode(): (option.envvar or b"").decode() for option in Conninfo.get_defaults()}
    inherited = {name: os.environ[variable] for name, variable in variables.items() if variable in os.environ}
    passfile = Path.home() / ".pgpass"
    default = {"passfile": str(passfile)} if passfile.exists() else {}
    own = ConnectionParameters({**default, **inherited, **parameters})
    own.secret = parameters.secret
    return own
