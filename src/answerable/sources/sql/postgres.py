"""A PostgreSQL database, by URL."""

import os
from collections.abc import Sequence
from pathlib import Path

from answerable.core.errors import UserError
from answerable.core.progress import Progress
from answerable.core.values import Language
from answerable.sources.sql.source import Snapshot, SourceOptions

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://user@host/database"
_ENVIRONMENT = {
    "PGHOST": "host",
    "PGPORT": "port",
    "PGDATABASE": "dbname",
    "PGUSER": "user",
    "PGPASSWORD": "password",
    "PGPASSFILE": "passfile",
    "PGSSLMODE": "sslmode",
    "PGSSLROOTCERT": "sslrootcert",
    "PGSSLCERT": "sslcert",
    "PGSSLKEY": "sslkey",
}
"""What libpq takes from its environment. A worker has no environment, so it gets them by name."""


class PostgresBackend:
    kind = "postgres"
    dialect: Language = "postgres"
    is_local = False
    semantic_files: Sequence[Path] = ()

    def __init__(self, url: str, options: SourceOptions) -> None:
        parameters = _parameters(url)
        self.database = parameters.get("dbname") or parameters.get("user") or "postgres"
        self._spec = {
            "engine": "postgres",
            "parameters": parameters,
            "memory_mb": options.memory_mb,
            "threads": 1,
        }

    async def look(self, _progress: Progress) -> Snapshot:
        return Snapshot(self._spec, fingerprint=None)


class _Parameters(dict[str, str]):
    """Parameters of a connection. Their `repr` shows none of them, because one is the password."""

    def __repr__(self) -> str:
        return "<parameters of a connection>"


def _parameters(url: str) -> _Parameters:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        explicit = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except psycopg.ProgrammingError:
        # The complaint may quote the URL, password and all, so it is neither shown nor chained.
        raise UserError(
            "This is not a PostgreSQL URL that can be read.",
            code="source_url_invalid",
            hint="Write it as postgresql://user:password@host:5432/database; encode special characters as %40.",
        ) from None
    inherited = {name: os.environ[variable] for variable, name in _ENVIRONMENT.items() if variable in os.environ}
    passfile = Path.home() / ".pgpass"
    default = {"passfile": str(passfile)} if passfile.exists() else {}
    parameters = _Parameters({**default, **inherited, **explicit})
    _check_port(parameters.get("port", "5432"))
    return parameters


def _check_port(port: str) -> None:
    """The worker opens its firewall for this port, so it must be one number."""
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise UserError(
            "The port of the database is not a number from 1 to 65535.",
            code="source_url_invalid",
            hint="Write it as postgresql://user:password@host:5432/database.",
        )
