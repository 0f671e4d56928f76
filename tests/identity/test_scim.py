"""A directory sends people and groups by SCIM, as Entra ID and Okta do, over real sockets."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from served_app import serving

from answerable.core.context import HOME_TENANT, LOCAL, person
from answerable.core.errors import RefusedError, UserError
from answerable.gateway.app import create_app
from answerable.identity.scim import ENTERPRISE, patched
from answerable.identity.scim_filter import parsed_filter
from answerable.service import Service
from answerable.settings import Settings

RULES = {"roles": {"Sales": "seller", "Board": ["manager"]}, "attributes": {"region": f"{ENTERPRISE}:division"}}


class Directory:
    """A SCIM client."""

    def __init__(self, app: FastAPI, client: httpx.AsyncClient) -> None:
        self.service: Service = app.state.service
        self.client = client

    async def send(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        reply = await self.client.request(method, path, json=body)
        assert reply.status_code == status, reply.text
        if status >= 400:
            assert reply.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
            assert reply.json()["status"] == str(status)
        return reply.json() if reply.content else None

    async def add(self, name: str, **fields: Any) -> str:
        found: str = (await self.send("POST", "/Users", {"userName": name, **fields}, 201))["id"]
        return found

    async def patch(self, path: str, *operations: dict[str, Any], status: int = 200) -> Any:
        body = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": list(operations)}
        return await self.send("PATCH", path, body, status)


@pytest.fixture
async def directory(settings: Settings) -> AsyncIterator[Directory]:
    app = create_app(settings.model_copy(update={"scim": RULES}))
    async with serving(app) as port:
        service: Service = app.state.service
        key = (await service.keys.add(LOCAL, user="boss", scopes=["administer"])).key
        address, headers = f"http://127.0.0.1:{port}/scim/v2", {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
            yield Directory(app, client)


async def test_people_come_change_and_go(directory: Directory) -> None:
    made = await directory.send(
        "POST",
        "/Users",
        {
            "userName": "kim@x.no",
            "externalId": "e1",
            "password": "never stored",
            "name": {"givenName": "Kim"},
            ENTERPRISE: {"division": "West"},
        },
        201,
    )
    assert (made["userName"], made["active"], "password" in made) == ("kim@x.no", True, False)
    await directory.send("POST", "/Users", {"userName": "kim@x.no"}, 409)
    path = f"/Users/{made['id']}"
    assert (await directory.service.identity.profile(person("kim@x.no"))).attributes == {"region": ["West"]}
    replaced = await directory.send("PUT", path, {"userName": "kim@x.no", ENTERPRISE: {"division": "East"}})
    assert "externalId" not in replaced
    await directory.send("PUT", path, {"userName": "other"}, 400)
    # As Entra ID writes it.
    changed = await directory.patch(path, {"op": "Replace", "path": "name.givenName", "value": "Kimmie"})
    assert changed["name"] == {"givenName": "Kimmie"}
    await directory.patch(path, {"op": "replace", "path": f"{ENTERPRISE}:division", "value": "North"})
    assert (await directory.service.identity.profile(person("kim@x.no"))).attributes == {"region": ["North"]}
    await directory.send("DELETE", path, None, 204)
    await directory.send("GET", path, None, 404)
    with pytest.raises(RefusedError, match="disabled"):
        directory.service.access.require("ask", person("kim@x.no"))
    assert await directory.add("kim@x.no") == made["id"]


async def test_who_is_deactivated_loses_sessions_and_keys_at_once(directory: Directory) -> None:
    user = await directory.add("kim")
    group = await directory.send("POST", "/Groups", {"displayName": "Sales", "members": [{"value": user}]}, 201)
    service = directory.service
    session = await service.identity.begin_session("kim", HOME_TENANT)
    key = await service.keys.add(LOCAL, user="kim", scopes=["ask"])
    assert await service.identity.person_with(session.token, HOME_TENANT) is not None
    await directory.patch(f"/Users/{user}", {"op": "Replace", "value": {"active": "False"}})
    assert await service.identity.person_with(session.token, HOME_TENANT) is None
    assert await service.keys.person_with(key.key, HOME_TENANT) is None
    with pytest.raises(RefusedError, match="disabled"):
        service.access.require("ask", person("kim"))
    await directory.patch(f"/Users/{user}", {"op": "replace", "path": "active", "value": True})
    service.access.require("ask", person("kim"))
    assert group["members"][0]["value"] == user


async def test_groups_give_roles(directory: Directory) -> None:
    kim, lee = await directory.add("kim"), await directory.add("lee")
    made = await directory.send("POST", "/Groups", {"displayName": "Sales", "members": [{"value": kim}]}, 201)
    path, service = f"/Groups/{made['id']}", directory.service

    async def roles(name: str) -> list[str]:
        return (await service.identity.profile(person(name))).roles

    assert (await roles("kim"), await roles("lee")) == (["seller"], [])
    await directory.patch(path, {"op": "add", "path": "members", "value": [{"value": lee}]})
    await directory.patch(path, {"op": "remove", "path": f'members[value eq "{kim}"]'})
    assert (await roles("kim"), await roles("lee")) == ([], ["seller"])
    assert (await directory.send("GET", f"/Users/{lee}"))["groups"] == [{"value": made["id"], "display": "Sales"}]
    await directory.send("PUT", path, {"displayName": "Yoga", "members": [{"value": lee}]})
    assert await roles("lee") == []
    await directory.send("PUT", path, {"displayName": "Sales", "members": [{"value": lee}]})
    assert await roles("lee") == ["seller"]
    await directory.send("DELETE", path, None, 204)
    assert await roles("lee") == []
    await directory.send("POST", "/Groups", {"displayName": "x", "members": [{"value": "nobody"}]}, 400)


async def test_versions_keep_changes_from_overwriting_each_other(directory: Directory) -> None:
    user = await directory.add("kim")
    path = f"/Users/{user}"
    first = (await directory.client.get(path)).headers["etag"]
    assert (await directory.client.get(path, headers={"If-None-Match": first})).status_code == 304
    change = {"op": "replace", "path": "displayName", "value": "Kim"}
    for status in (200, 412):
        reply = await directory.client.patch(path, json={"Operations": [change]}, headers={"If-Match": first})
        assert reply.status_code == status
    assert (await directory.client.delete(path, headers={"If-Match": first})).status_code == 412


async def test_lists_are_filtered_and_come_in_pages(directory: Directory) -> None:
    for number in range(5):
        await directory.add(f"user{number}", active=number != 3, emails=[{"type": "work", "value": f"u{number}@x.no"}])
    page = await directory.send("GET", "/Users?startIndex=2&count=2")
    assert (page["totalResults"], page["itemsPerPage"]) == (5, 2)
    assert [user["userName"] for user in page["Resources"]] == ["user1", "user2"]
    for text, names in (
        ('userName eq "USER2"', ["user2"]),
        ("active eq false", ["user3"]),
        ('userName sw "user" and not (active eq false or userName ew "0")', ["user1", "user2", "user4"]),
        ('emails[type eq "work" and value co "u4"]', ["user4"]),
        ('emails.value eq "u1@x.no" or externalId pr', ["user1"]),
    ):
        found = (await directory.client.get("/Users", params={"filter": text})).json()
        assert [user["userName"] for user in found["Resources"]] == names, text
    for wrong in ("userName", "userName eq", 'userName is "x"', "(userName pr", '"x" eq 1', "a pr b", "(" * 50):
        reply = await directory.client.get("/Users", params={"filter": wrong})
        assert (reply.status_code, reply.json()["scimType"]) == (400, "invalidFilter"), wrong
    assert (await directory.send("GET", "/Users?count=0"))["Resources"] == []
    assert (await directory.send("GET", "/ServiceProviderConfig"))["patch"] == {"supported": True}
    assert (await directory.send("GET", "/ResourceTypes"))["totalResults"] == 2


async def test_others_are_not_the_directorys_to_change(directory: Directory) -> None:
    service = directory.service
    await service.identity.add_user("local-one", LOCAL)
    assert (await directory.send("GET", "/Users"))["totalResults"] == 0
    await directory.send("POST", "/Users", {"userName": "local-one"}, 409)
    wrong: tuple[Any, ...] = ([], "x", {}, {"userName": ""}, {"userName": "local"})
    for body in wrong:
        await directory.send("POST", "/Users", body, 400)
    weak = (await service.keys.add(LOCAL, user="boss", scopes=["ask"])).key
    for headers, status in (({"Authorization": f"Bearer {weak}"}, 403), ({"Authorization": "Bearer x"}, 401)):
        reply = await directory.client.get("/Users", headers=headers)
        assert (reply.status_code, reply.json()["status"]) == (status, str(status))


async def test_the_directory_cannot_lock_the_last_administrator_out(directory: Directory) -> None:
    path = directory.service.identity
    user = await directory.add("chief")
    group = await directory.send("POST", "/Groups", {"displayName": "Board", "members": [{"value": user}]}, 201)
    assert "administer" in (await path.profile(person("chief"))).actions
    await directory.patch(f"/Users/{user}", {"op": "replace", "path": "active", "value": False}, status=403)
    reply = await directory.client.delete(f"/Users/{user}")
    assert reply.status_code == 403
    assert "administer" in (await path.profile(person("chief"))).actions
    assert group["displayName"] == "Board"


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_refused(text: str) -> None:
    try:
        assert parsed_filter(text)({"userName": "x"}) in (True, False)
    except UserError as error:
        assert error.stable_code == "scim_filter_invalid"  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "fly"},
        {"op": "add", "path": "a b", "value": 1},
        {"op": "replace", "path": "id", "value": "x"},
        {"op": "replace", "path": "meta.version", "value": "x"},
        {"op": "remove"},
        {"op": "replace", "path": 'emails[type eq "home"].value', "value": "x"},
        7,
    ],
)
def test_an_operation_that_cannot_be_done_is_refused(operation: Any) -> None:
    with pytest.raises(UserError):
        patched({"userName": "x", "emails": [{"type": "work"}]}, {"Operations": [operation]})
