"""Who asks, found once for each request. Rate limits, logs and routes then know it."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.core.errors import AnswerableError
from answerable.gateway.access import principal_of
from answerable.gateway.wire import API


class Authentication:
    """Puts the principal into the scope. It refuses nobody: some routes are for people who have yet to sign in, and
    every other route names its principal as a parameter and refuses who has none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(API):
            request = Request(scope)
            try:
                scope["principal"] = await principal_of(request, request.app.state.service)
            except AnswerableError:
                # The route looks again and meets the same failure, which then becomes its reply.
                scope.pop("principal", None)
        await self._app(scope, receive, send)
