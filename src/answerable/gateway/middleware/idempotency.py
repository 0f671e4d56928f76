"""`Idempotency-Key`: a request that changes something is carried out once, however often it is sent with its key.

Routes that start a run take the key as the id of their run (`NewRun` in `access.py`). For every other route of the
class `OnceRoute` the first reply is stored and given again.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from fastapi import Depends, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.core.errors import AnswerableError
from answerable.gateway.access import KEY, IdempotencyKey, fingerprint_of, new_run, principal_of
from answerable.gateway.middleware.bodies import STREAMED, replayed
from answerable.gateway.middleware.matched_route import matched_route
from answerable.gateway.problems import problem_of
from answerable.service import Service
from answerable.service.keyed_requests import KeyedAttempt

CHANGING = frozenset(("POST", "PUT", "PATCH", "DELETE"))


async def _key(idempotency_key: IdempotencyKey = None) -> str | None:
    return idempotency_key


class OnceRoute(APIRoute):
    """The class of every route whose reply may be stored. It checks the header and documents it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if CHANGING.intersection(options.get("methods") or ()):
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(_key)]
        super().__init__(path, endpoint, **options)

    @property
    def stores_reply(self) -> bool:
        starts_run = any(each.call is new_run for each in self.dependant.dependencies)
        return not starts_run and bool(CHANGING & (self.methods or set()))


class KeyedReplies:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get("idempotency-key") if scope["type"] == "http" else None
        # The route itself refuses what is no key.
        if key is None or scope["method"] not in CHANGING or not re.fullmatch(KEY, key) or not _stores_reply(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._once(key, request, receive)
        except _Failed as failure:
            response = failure.response
        except AnswerableError as error:
            response = problem_of(error, request)
        await response(scope, receive, send)

    async def _once(self, key: str, request: Request, receive: Receive) -> Response:
        service: Service = request.app.state.service
        principal = await principal_of(request, service)
        fingerprint = await fingerprint_of(request)
        if request.url.path not in STREAMED:
            receive = replayed(await request.body(), receive)

        async def carry_out(attempt: KeyedAttempt) -> str:
            request.state.attempt = attempt
            reply = _Recorded()
            await self._app(request.scope, receive, reply.record)
            if reply.status >= 400:
                raise _Failed(reply.response())
            return json.dumps([reply.status, reply.media_type, reply.body.decode()])

        status, media_type, body = json.loads(await service.keyed_requests.once(key, fingerprint, principal, carry_out))
        return Response(body, status, media_type=media_type)


class _Recorded:
    """A reply that is kept instead of sent."""

    def __init__(self) -> None:
        self.status = 500
        self.headers = Headers()
        self.body = b""

    async def record(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = Headers(raw=message["headers"])
        else:
            self.body += message.get("body", b"")

    @property
    def media_type(self) -> str | None:
        return self.headers.get("content-type")

    def response(self) -> Response:
        response = Response(self.body, self.status)
        response.raw_headers = list(self.headers.raw)
        return response


class _Failed(Exception):
    """The request failed. Its reply is sent and not stored, so that whoever asks again tries again."""

    def __init__(self, response: Response) -> None:
        self.response = response


def _stores_reply(scope: Scope) -> bool:
    route = matched_route(scope)
    return isinstance(route, OnceRoute) and route.stores_reply
