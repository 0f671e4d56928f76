"""Keys with which programs ask as somebody."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.gateway.access import PrincipalOf, ServiceOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.keys import KeyView, NewKey

# Not routes of the class `OnceRoute`: that stores replies, and these hold keys.
router = APIRouter(prefix=API, tags=["identity"])

Text = Annotated[str, Field(min_length=1, max_length=200)]
KeyPath = Annotated[str, Path(pattern="^kid_[0-9a-f]{16}$")]
OfUser = Annotated[str | None, Query(min_length=1, max_length=200, description="For administrators: whose keys.")]


class KeyRequest(Wire):
    name: Text = Field(description="What the key is for.")
    scopes: list[Text] = Field(["ask"], min_length=1, max_length=20, description="The permissions that it gives.")
    days: int = Field(90, ge=1, le=3650, description="For how long it counts.")
    user: Text | None = Field(None, description="For administrators: whose key it is.")


class Rotation(Wire):
    grace_hours: int = Field(0, ge=0, le=720, description="For how long the old key still counts.")


class KeyList(Wire):
    keys: list[KeyView]


class Revoked(Wire):
    revoked: int


@router.get("/keys", responses=documented(401, 403, 422, 503))
async def keys(service: ServiceOf, principal: PrincipalOf, user: OfUser = None) -> KeyList:
    """List one's own keys, the newest first."""
    return KeyList(keys=await service.keys.list(principal, user=user))


@router.post("/keys", status_code=201, responses=documented(400, 401, 403, 413, 422, 503))
async def add_key(body: KeyRequest, service: ServiceOf, principal: PrincipalOf) -> NewKey:
    """Make a key. The reply shows it this once."""
    return await service.keys.add(principal, user=body.user, name=body.name, scopes=body.scopes, days=body.days)


@router.post("/keys/{key_id}/rotate", status_code=201, responses=documented(400, 401, 403, 404, 413, 422, 503))
async def rotate_key(key_id: KeyPath, body: Rotation, service: ServiceOf, principal: PrincipalOf) -> NewKey:
    """Replace a key by a new one with the same scopes and the same lifetime."""
    return await service.keys.rotate(key_id, principal, grace_hours=body.grace_hours)


@router.delete("/keys/{key_id}", status_code=204, responses=documented(401, 403, 404, 422, 503))
async def revoke_key(key_id: KeyPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """End a key, at once."""
    await service.keys.revoke(key_id, principal)


@router.delete("/keys", responses=documented(401, 403, 422, 503))
async def revoke_all_keys(service: ServiceOf, principal: PrincipalOf, user: OfUser = None) -> Revoked:
    """End all of one's own keys, at once."""
    return Revoked(revoked=await service.keys.revoke_all(principal, user=user))
