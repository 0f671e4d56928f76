"""The process that listens."""

from collections.abc import Iterable

import uvicorn

from answerable.core.errors import OperatorError
from answerable.gateway.app import create_app
from answerable.logs import configure
from answerable.settings import Settings


def serve(settings: Settings, *, allow_hosts: Iterable[str] = ()) -> None:
    """Serves until interrupted. Running work is left in the journal; the next start continues it."""
    configure(settings.log_level)
    config = uvicorn.Config(
        create_app(settings, allow_hosts=allow_hosts),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    server = uvicorn.Server(config)
    try:
        server.run()
    except SystemExit as error:
        raise OperatorError(
            f"Cannot listen on {settings.host}:{settings.port}.",
            code="port_unavailable",
            hint="Another program may use the port: choose one with --port.",
        ) from error
