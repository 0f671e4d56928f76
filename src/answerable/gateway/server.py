"""The process that listens."""

import errno
import gc
import logging
import socket
import sys
from collections.abc import Iterable
from ipaddress import ip_address

import uvicorn
from fastapi import FastAPI

from answerable.core.context import HOME_TENANT
from answerable.core.errors import AnswerableError, OperatorError
from answerable.gateway.app import create_app
from answerable.gateway.connections import BoundedConnection
from answerable.gateway.tls import parsed_tls, server_context
from answerable.gateway.token import PARAMETER, new_token
from answerable.isolation.own_folder import remove_own
from answerable.logs import configure
from answerable.service import Service
from answerable.settings import Settings

_GARBAGE_EVERY = 50_000
"""Objects between two looks for garbage: a request makes some thousands, most of which go without it."""


class _Server(uvicorn.Server):
    """Prints the link with the token once it listens. Tells the service at once when it has to stop, so that those who
    wait for a run get a word about it."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, token: str | None) -> None:
        super().__init__(config)
        self._app = app
        self._token = token

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What is loaded by now stays. A look for garbage that goes through all of it would hold up every request.
        gc.freeze()
        gc.set_threshold(_GARBAGE_EVERY)
        if self.started and sockets:
            if self._token is not None:
                _print_link(self._address(sockets[0]), self._token)
            await self._print_setup_link(sockets[0])

    async def _print_setup_link(self, listening: socket.socket) -> None:
        """Prints the link for the first administrator. The token is in the fragment, which browsers do not send, so no
        log holds it."""
        service: Service = self._app.state.service
        if not service.access.is_on_for(HOME_TENANT):
            return
        try:
            token = await service.identity.setup_token(HOME_TENANT)
        except AnswerableError as error:  # a mistake in access.yaml lets nobody in, and can be mended while we serve
            print(f"Nobody can sign in: {error}", file=sys.stderr, flush=True)
            return
        if token is not None:
            print(f"Set up sign-in, once and within a day: {self._address(listening)}/#setup={token}", flush=True)

    def _address(self, listening: socket.socket) -> str:
        # Reads the port from the socket: with `--port 0` the system has chosen it.
        address, port = listening.getsockname()[:2]
        host = "localhost" if ip_address(address).is_unspecified else f"[{address}]" if ":" in address else address
        return f"{'https' if self.config.is_ssl else 'http'}://{host}:{port}"

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # There is no service if the start failed.
        service = getattr(self._app.state, "service", None)
        if service is not None:
            service.runs.carrier.leave()
        await super().shutdown(sockets)
        # uvicorn ends the process with the signal that it got, and Python then cleans nothing up.
        remove_own()


def serve(settings: Settings, *, allow_hosts: Iterable[str] = (), needs_token: bool) -> None:
    """Serves until interrupted. Running work is left in the journal; the next start continues it. With `needs_token`, a
    token is made and printed in a link."""
    configure(settings.log_level, settings.personal_policy)
    token = new_token() if needs_token else None
    app = create_app(settings, allow_hosts=allow_hosts, token=token)
    tls = parsed_tls(settings.tls)
    context = server_context(tls) if tls is not None else None
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        # `configure` has set up logging, and `AccessLog` logs each request: uvicorn would do both again.
        log_config=None,
        access_log=False,
        # Runs are in the journal and continue at the next start, so open requests need not be waited for long.
        timeout_graceful_shutdown=3,
        server_header=False,
        http=BoundedConnection,
        # No route speaks it, and what does not come as HTTP would pass by the checks of host, token and origin.
        ws="none",
        ssl_context_factory=(lambda _config, _default: context) if context is not None else None,
    )
    # Before anything else is started, and by ourselves: uvicorn would end the process without a reason.
    sockets = _listening(settings.host, settings.port)
    # `Defects` logs defects, and a failed start is raised below; uvicorn would print both as a stack trace.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    try:
        _Server(config, app, token).run(sockets)
    except SystemExit:
        if getattr(app.state, "failure", None) is None:
            raise
    finally:
        for listening in sockets:
            listening.close()
    failure: BaseException | None = getattr(app.state, "failure", None)
    if failure is not None:
        raise failure


def _print_link(address: str, token: str) -> None:
    print(f"Open {address}/?{PARAMETER}={token}", flush=True)
    if address.startswith(("http://localhost", "https://localhost")):
        print("On other machines, put an address of this one in the place of `localhost`.", flush=True)


def _listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of the host, for example for 127.0.0.1 and ::1."""
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in dict.fromkeys(found):
            sockets.append(socket.socket(family, kind, protocol))
            # A server that is restarted can take its port back at once, while old connections still time out.
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # Else a socket for `::` takes the port for IPv4 as well, and the socket for 0.0.0.0 cannot be bound.
                sockets[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sockets[-1].bind(address)
    except OSError as error:
        for listening in sockets:
            listening.close()
        raise _cannot_listen(error, host, port) from error
    return sockets


def _cannot_listen(error: OSError, host: str, port: int) -> AnswerableError:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return OperatorError(
            f"This machine has no address {host}.",
            code="host_unavailable",
            hint="Name one of its own addresses with --host; 127.0.0.1 is for this machine alone.",
        )
    if error.errno == errno.EADDRINUSE:
        return OperatorError(
            f"Another program listens on {host}:{port}.",
            code="port_unavailable",
            hint="Choose another port with --port, or end that program.",
        )
    if error.errno == errno.EACCES:
        return OperatorError(
            f"This user may not listen on port {port}.",
            code="port_forbidden",
            hint="Choose a port above 1023 with --port.",
        )
    return OperatorError(
        f"Cannot listen on {host}:{port}: {error.strerror}.", code="listening_failed", hint="Look at the system's log."
    )
