"""The process that listens."""

from collections.abc import Iterable
from ipaddress import ip_address
from socket import socket

import uvicorn

from answerable.core.errors import OperatorError
from answerable.gateway.app import create_app
from answerable.gateway.token import PARAMETER, new_token
from answerable.logs import configure
from answerable.settings import Settings


class _Server(uvicorn.Server):
    """Prints the link with the token once it listens, because only then the port is certain."""

    def __init__(self, config: uvicorn.Config, token: str | None) -> None:
        super().__init__(config)
        self._token = token

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self._token is not None and self.started:
            address, port = self.servers[0].sockets[0].getsockname()[:2]
            host = "localhost" if ip_address(address).is_unspecified else f"[{address}]" if ":" in address else address
            print(f"Open http://{host}:{port}/?{PARAMETER}={self._token}", flush=True)
            if host == "localhost":
                print("On other machines, put an address of this one in the place of `localhost`.", flush=True)


def serve(settings: Settings, *, allow_hosts: Iterable[str] = (), for_everybody: bool = False) -> None:
    """Serves until interrupted. Running work is left in the journal; the next start continues it. A server that other
    machines can reach needs a token, unless it is `for_everybody`."""
    token = None if settings.is_local or for_everybody else new_token()
    configure(settings.log_level)
    config = uvicorn.Config(
        create_app(settings, allow_hosts=allow_hosts, token=token),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    server = _Server(config, token)
    try:
        server.run()
    except SystemExit as error:
        raise OperatorError(
            f"Cannot listen on {settings.host}:{settings.port}.",
            code="port_unavailable",
            hint="Another program may use the port: choose one with --port.",
        ) from error
