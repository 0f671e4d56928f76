"""`Idempotency-Key`: a request that changes something is carried out once, however often it is sent with its key.

Routes that start a run take the key as the id of their run (`NewRun` in `access.py`). For every other route the first
reply is stored and given again.
"""

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Depends, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from answerable.gateway.access import KEY, IdempotencyKey, fingerprint_of, new_run, principal_of, service_of
from answerable.service.keyed_requests import KeyedAttempt

CHANGING = frozenset(("POST", "PUT", "PATCH", "DELETE"))
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def _key(idempotency_key: IdempotencyKey = None) -> str | None:
    return idempotency_key


class OnceRoute(APIRoute):
    """The class of every route. It does nothing for routes that only read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if CHANGING.intersection(options.get("methods") or ()):
            # Checks the header and documents it.
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(_key)]
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        starts_run = any(each.call is new_run for each in self.dependant.dependencies)
        if starts_run or not CHANGING & (self.methods or set()):
            return handle

        async def once(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key is None or not re.fullmatch(KEY, key):  # the route itself refuses what is no key
                return await handle(request)

            async def carry_out(attempt: KeyedAttempt) -> str:
                request.state.attempt = attempt
                response = await handle(request)
                return json.dumps([response.status_code, response.media_type, bytes(response.body).decode()])

            fingerprint = await fingerprint_of(request)
            service, principal = await service_of(request), await principal_of(request, await service_of(request))
            reply = await service.keyed_requests.once(key, fingerprint, principal, carry_out)
            status, media_type, body = json.loads(reply)
            return Response(body, status, media_type=media_type)

        return once
