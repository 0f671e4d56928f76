"""SCIM 2.0: a directory such as Entra ID or Okta sends the people and groups that may use Answerable.

It comes with a key that may `administer`. Its replies and errors have the forms of RFC 7644.
"""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from answerable.core.errors import (
    AnswerableError,
    NotFoundError,
    RefusedError,
    SignInError,
    TooManyError,
    UserError,
)
from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.identity.scim import ERROR, GROUP, PATCH, USER, document, invalid
from answerable.service.scim import MOST_RESULTS, Versioned

MEDIA_TYPE = "application/scim+json"
_STATUS: tuple[tuple[type[AnswerableError], int], ...] = (
    (NotFoundError, 404),
    (SignInError, 401),
    (RefusedError, 403),
    (UserError, 400),
    (TooManyError, 429),
)


class ScimRoute(APIRoute):
    """Tells errors as SCIM does."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError:
                return _problem(400, "A parameter is wrong.", "invalidValue")
            except AnswerableError as error:
                if error.stable_code in ("user_exists", "group_exists", "user_changed", "group_changed"):
                    return _problem(409, error.message, error.details.get("scim_type"))
                status = next((status for kind, status in _STATUS if isinstance(error, kind)), 503)
                scim_type = "invalidFilter" if error.stable_code == "scim_filter_invalid" else None
                details = error.details
                return _problem(details.get("scim_status", status), error.message, details.get("scim_type", scim_type))

        return answered


router = APIRouter(
    prefix="/scim/v2",
    tags=["identity"],
    route_class=ScimRoute,
    include_in_schema=False,
    dependencies=[needs("administer")],
)
Id = Annotated[str, Path(min_length=1, max_length=400)]
Filter = Annotated[str | None, Query()]
StartIndex = Annotated[int, Query(alias="startIndex")]
Count = Annotated[int, Query()]
IfMatch = Annotated[str | None, Header()]


@router.get("/ServiceProviderConfig")
async def configuration(service: ServiceOf, principal: PrincipalOf) -> Response:
    service.access.require("administer", principal)
    return _reply(
        {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
            "patch": {"supported": True},
            "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
            "filter": {"supported": True, "maxResults": MOST_RESULTS},
            "changePassword": {"supported": False},
            "sort": {"supported": False},
            "etag": {"supported": True},
            "authenticationSchemes": [
                {"type": "oauthbearertoken", "name": "Key", "description": "A key that may administer."}
            ],
        }
    )


@router.get("/ResourceTypes")
async def resource_types(service: ServiceOf, principal: PrincipalOf) -> Response:
    service.access.require("administer", principal)
    kinds = (("User", USER), ("Group", GROUP))
    resources = [
        {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
            "id": name,
            "name": name,
            "endpoint": f"/{name}s",
            "schema": schema,
        }
        for name, schema in kinds
    ]
    return _reply({"schemas": [PATCH.replace("PatchOp", "ListResponse")], "totalResults": 2, "Resources": resources})


@router.get("/Users")
async def users(
    service: ServiceOf, principal: PrincipalOf, filter: Filter = None, start: StartIndex = 1, count: Count = 100
) -> Response:
    return _reply(await service.scim.users(principal, filter_text=filter, start=start, count=count))


@router.post("/Users")
async def add_user(request: Request, service: ServiceOf, principal: PrincipalOf) -> Response:
    return _versioned(await service.scim.add_user(await _body(request), principal), request, 201)


@router.get("/Users/{user_id}")
async def user(user_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf) -> Response:
    return _versioned(await service.scim.user(user_id, principal), request)


@router.put("/Users/{user_id}")
async def replace_user(
    user_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None
) -> Response:
    body = await _body(request)
    return _versioned(await service.scim.replace_user(user_id, body, principal, etag=if_match), request)


@router.patch("/Users/{user_id}")
async def patch_user(
    user_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None
) -> Response:
    body = await _body(request)
    return _versioned(await service.scim.patch_user(user_id, body, principal, etag=if_match), request)


@router.delete("/Users/{user_id}", status_code=204)
async def delete_user(user_id: Id, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None) -> None:
    await service.scim.delete_user(user_id, principal, etag=if_match)


@router.get("/Groups")
async def groups(
    service: ServiceOf, principal: PrincipalOf, filter: Filter = None, start: StartIndex = 1, count: Count = 100
) -> Response:
    return _reply(await service.scim.groups(principal, filter_text=filter, start=start, count=count))


@router.post("/Groups")
async def add_group(request: Request, service: ServiceOf, principal: PrincipalOf) -> Response:
    return _versioned(await service.scim.add_group(await _body(request), principal), request, 201)


@router.get("/Groups/{group_id}")
async def group(group_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf) -> Response:
    return _versioned(await service.scim.group(group_id, principal), request)


@router.put("/Groups/{group_id}")
async def replace_group(
    group_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None
) -> Response:
    body = await _body(request)
    return _versioned(await service.scim.replace_group(group_id, body, principal, etag=if_match), request)


@router.patch("/Groups/{group_id}")
async def patch_group(
    group_id: Id, request: Request, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None
) -> Response:
    body = await _body(request)
    return _versioned(await service.scim.patch_group(group_id, body, principal, etag=if_match), request)


@router.delete("/Groups/{group_id}", status_code=204)
async def delete_group(group_id: Id, service: ServiceOf, principal: PrincipalOf, if_match: IfMatch = None) -> None:
    await service.scim.delete_group(group_id, principal, etag=if_match)


async def _body(request: Request) -> dict[str, Any]:
    try:
        return document(orjson.loads(await request.body()))
    except orjson.JSONDecodeError:
        raise invalid("The body is no JSON.", "invalidSyntax") from None


def _versioned(found: Versioned, request: Request, status: int = 200) -> Response:
    if request.method == "GET" and request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers={"ETag": found.etag})
    location = found.resource["meta"]["location"]
    return _reply(found.resource, status, {"ETag": found.etag, "Location": location})


def _reply(content: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    headers = {"Cache-Control": "no-store", **(headers or {})}
    return Response(orjson.dumps(content), status_code=status, media_type=MEDIA_TYPE, headers=headers)


def _problem(status: int, detail: str, scim_type: str | None = None) -> Response:
    content = {"schemas": [ERROR], "status": str(status), "detail": detail}
    reply = _reply(content | ({"scimType": scim_type} if scim_type else {}), status)
    if status == 401:
        reply.headers["WWW-Authenticate"] = "Bearer"
    return reply
