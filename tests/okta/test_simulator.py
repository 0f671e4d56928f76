"""The simulator speaks as Okta does: checked against facts of recorded answers of a real tenant."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from okta_recordings import FACTS, TEMPLATES, facts, fields, paths
from starlette.testclient import TestClient

from answerable.okta.simulator.changes import change
from answerable.okta.simulator.filters import FilterError, parsed
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator
from answerable.okta.simulator.tenant import Tenant, named

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
KNOWN = json.loads(FACTS.read_text("utf-8"))


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    return simulated_tenant(120, 3, NOW)


@pytest.fixture(scope="module")
def okta(tenant: Tenant) -> Iterator[TestClient]:
    with TestClient(Simulator(tenant).app()) as client:
        client.headers["Authorization"] = f"SSWS {TOKEN}"
        yield client


def address(place: str, tenant: Tenant) -> str:
    """A path of that form that exists in the tenant."""
    admins = named(tenant.groups, "sso-super-admins")["id"]
    ids = {
        "users": next(user for user in tenant.factors if tenant.factors[user] and user in tenant.roles),
        "groups": admins,
        "apps": named(tenant.apps, "AWS")["id"],
        "devices": next(iter(tenant.devices))["id"],
        "policies": next(iter(tenant.policies))["id"],
    }
    first = place.split("/")[1]
    return "/api/v1" + place.replace("{id}", ids.get(first, "")) + ("?type=PASSWORD" if place == "/policies" else "")


@pytest.mark.parametrize("place", TEMPLATES)
def test_things_have_the_fields_and_types_of_recorded_ones(place: str, okta: TestClient, tenant: Tenant) -> None:
    body = okta.get(address(place, tenant)).json()
    items: list[dict[str, Any]] = body if isinstance(body, list) else [body]
    assert items
    shape = KNOWN["shapes"][place]
    # few applications were recorded there, all of one kind
    as_apps = KNOWN["shapes"]["/apps"] if place.endswith("/apps") else shape
    types = {**as_apps["types"], **shape["types"]}
    for item in items:
        assert set(as_apps["always"]) <= set(paths(item))
        for name, kind in fields(item):
            # a field that was null whenever it was recorded may be of any type
            seen = {*types[name], "NoneType"}
            assert kind in seen or set(types[name]) == {"NoneType"}, name


def test_the_committed_facts_are_those_of_the_recordings(shared_data: Path) -> None:
    assert facts(shared_data) == KNOWN


@pytest.mark.parametrize(
    ("path", "fact", "causes"),
    [
        ("/api/v1/users/nobody", "404 E0000007", []),
        ("/api/v1/groups/nothing", "404 E0000007", []),
        ("/api/v1/apps?after=!", "400 E0000029", ["Invalid cursor."]),
        ("/api/v1/devices?after=!", "400 E0000031", ["Invalid cursor."]),
    ],
)
def test_errors_have_the_shape_of_recorded_ones(path: str, fact: str, causes: list[str], okta: TestClient) -> None:
    recorded = KNOWN["errors"][fact]
    reply = okta.get(path)
    body = reply.json()
    assert f"{reply.status_code} {body['errorCode']}" == fact
    assert set(body) == set(recorded)
    assert body["errorSummary"].split(":")[0] == recorded["errorSummary"].split(":")[0]
    assert [cause["errorSummary"] for cause in body["errorCauses"]] == causes


def test_a_wrong_method_is_refused_as_recorded(okta: TestClient) -> None:
    reply = okta.delete("/api/v1/users")
    assert (reply.status_code, reply.json()["errorSummary"]) == (405, KNOWN["errors"]["405 E0000022"]["errorSummary"])


@pytest.mark.parametrize(
    "path", ["/api/v1/users?limit=7", "/api/v1/groups?limit=4", "/api/v1/logs?limit=50&until=2027"]
)
def test_following_the_links_gives_everything_once(path: str, okta: TestClient, tenant: Tenant) -> None:
    found: list[str] = []
    following: str | None = f"{path}&since=2020" if "logs" in path else path
    while following:
        reply = okta.get(following)
        found += [item.get("id") or item["uuid"] for item in reply.json()]
        following = reply.links.get("next", {}).get("url")
    present = [user["id"] for user in tenant.users if user["status"] != "DEPROVISIONED"]
    expected = {"users": present, "groups": [group["id"] for group in tenant.groups]}
    assert found == expected.get(path.split("/")[3].split("?")[0], [entry["uuid"] for entry in tenant.log])


def test_the_log_is_followed_from_its_newest_entry_too(okta: TestClient, tenant: Tenant) -> None:
    found: list[str] = []
    following: str | None = "/api/v1/logs?since=2020&sortOrder=DESCENDING&limit=90"
    while following:
        reply = okta.get(following)
        found += [entry["uuid"] for entry in reply.json()]
        following = reply.links.get("next", {}).get("url")
    assert found == [entry["uuid"] for entry in reversed(tenant.log)]
    words = okta.get("/api/v1/logs?since=2020&limit=1000&q=session+FAILURE").json()
    assert words
    assert {entry["outcome"]["result"] for entry in words} == {"FAILURE"}
    assert okta.get("/api/v1/logs?since=yesterday").json()["errorCode"] == "E0000001"


def test_links_are_written_as_recorded(okta: TestClient) -> None:
    links = okta.get("/api/v1/apps?limit=2").headers.get_list("Link", split_commas=False)
    assert [link.split("; ")[1] for link in links] == ['rel="self"', 'rel="next"']
    assert links[0].split("; ")[0].endswith("/api/v1/apps?limit=2>")
    assert "/api/v1/apps?after=0oa" in links[1]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("apps?filter=status+eq+%22ACTIVE%22&limit=10", "apps?limit=10&filter=status+eq+%22ACTIVE%22"),
        ("apps?q=J&useOptimization=true", "apps?limit=20&q=J"),
        ("users", "users?limit=200"),
        ("policies?type=PASSWORD", "policies?type=PASSWORD"),
        ("zones", "zones?limit=20"),
        ("groups/rules", "groups/rules?limit=50"),
    ],
)
def test_a_page_names_itself_as_recorded(asked: str, told: str, okta: TestClient) -> None:
    [link] = okta.get(f"/api/v1/{asked}").headers.get_list("Link", split_commas=False)[:1]
    assert link == f'<http://testserver/api/v1/{told}>; rel="self"'


@pytest.mark.parametrize(
    "path",
    [
        "users", "groups", "groups/rules", "apps", "devices", "policies?type=PASSWORD", "zones",
        "authorizationServers", "users/{user}/factors", "apps/{app}/users", "apps/{app}/groups",
        "policies/{policy}/rules",
    ],
)  # fmt: skip
def test_each_thing_of_a_list_is_found_by_its_id(path: str, okta: TestClient, tenant: Tenant) -> None:
    filled = path.format(
        user=next(user for user in tenant.factors if tenant.factors[user]),
        app=named(tenant.apps, "AWS")["id"],
        policy=next(iter(tenant.policies))["id"],
    )
    listed = okta.get(f"/api/v1/{filled}").json()
    assert listed
    place = filled.partition("?")[0]
    one = okta.get(f"/api/v1/{place}/{listed[0]['id']}").json()
    assert one["id"] == listed[0]["id"]
    assert okta.get(f"/api/v1/{place}/nothing").json()["errorCode"] == "E0000007"


def test_search_filter_and_q_narrow_the_list(okta: TestClient, tenant: Tenant) -> None:
    gone = okta.get("/api/v1/users", params={"search": 'status eq "DEPROVISIONED"'}).json()
    assert {user["status"] for user in gone} == {"DEPROVISIONED"}
    admins = okta.get("/api/v1/groups", params={"q": "SSO-super"}).json()
    assert [group["profile"]["name"] for group in admins] == ["sso-super-admins"]
    failed = okta.get("/api/v1/logs", params={"filter": 'outcome.result eq "FAILURE"', "since": "2020"}).json()
    assert failed
    assert {entry["outcome"]["result"] for entry in failed} == {"FAILURE"}
    both = okta.get("/api/v1/apps", params={"q": "J", "filter": 'status eq "INACTIVE"'}).json()
    assert both == []
    user = next(iter(tenant.members[named(tenant.groups, "sso-super-admins")["id"]]))
    own = okta.get("/api/v1/apps", params={"filter": f'user.id eq "{user}"', "limit": "200"}).json()
    assert [app["id"] for app in own] == [app["id"] for app in tenant.apps if tenant.has_app(user, app["id"])] != []
    stats = okta.get("/api/v1/groups", params={"q": "sso-super", "expand": "stats"}).json()[0]["_embedded"]["stats"]
    assert stats["usersCount"] == 4


@pytest.mark.parametrize(
    ("text", "item", "expected"),
    [
        ('status eq "active"', {"status": "ACTIVE"}, True),
        ('a.b sw "x" and not (c pr)', {"a": {"b": "xy"}, "c": None}, True),
        ('a eq "1" or b gt "2" and b lt "4"', {"a": "0", "b": "3"}, True),
        ('target.id eq "u2"', {"target": [{"id": "u1"}, {"id": "u2"}]}, True),
        ("on eq true", {"on": False}, False),
        ('missing co "x"', {}, False),
    ],
)
def test_expressions(text: str, item: dict[str, Any], expected: bool) -> None:
    assert parsed(text)(item) is expected


@pytest.mark.parametrize("text", ["status", "status is 3", "status eq", '(a eq "b"', 'a eq "b" c', "a eq b", '"a" pr'])
def test_a_wrong_expression_is_refused(text: str, okta: TestClient) -> None:
    with pytest.raises(FilterError):
        parsed(text)
    assert okta.get("/api/v1/users", params={"search": text}).json()["errorCode"] == "E0000031"


def test_only_a_known_token_with_the_scope_is_let_in(tenant: Tenant) -> None:
    simulator = Simulator(tenant, scopes={"bearer-token": frozenset({"okta.users.read"})})
    with TestClient(simulator.app()) as client:
        assert client.get("/api/v1/users").json()["errorCode"] == "E0000011"
        assert client.get("/api/v1/users", headers={"Authorization": "SSWS other"}).status_code == 401
        bearer = {"Authorization": "Bearer bearer-token"}
        assert client.get("/api/v1/users", headers=bearer).status_code == 200
        refused = client.get("/api/v1/apps", headers=bearer)
        assert (refused.status_code, refused.json()["errorCode"]) == (403, "E0000006")
        assert "insufficient_scope" in refused.headers["WWW-Authenticate"]


def test_limits_are_told_and_kept_until_the_minute_is_over(tenant: Tenant) -> None:
    clock = [1000.0]
    with TestClient(Simulator(tenant, rate=0.03, now=lambda: clock[0]).app()) as client:
        client.headers["Authorization"] = f"SSWS {TOKEN}"
        replies = [client.get("/api/v1/apps") for _ in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
        assert [reply.headers["x-rate-limit-remaining"] for reply in replies] == ["2", "1", "0", "0"]
        assert replies[3].headers["x-rate-limit-reset"] == "1060"
        assert replies[3].json()["errorSummary"] == KNOWN["errors"]["429 E0000047"]["errorSummary"]
        assert client.get("/api/v1/users?limit=1").status_code == 200  # each endpoint has its own limit
        clock[0] = 1060.0
        assert client.get("/api/v1/apps").status_code == 200


def test_the_same_seed_makes_the_same_tenant_and_the_same_changes() -> None:
    first, second, other = (simulated_tenant(60, seed, NOW) for seed in (5, 5, 6))
    for tenant in (first, second, other):
        change(tenant, 40)
    assert list(first.users) == list(second.users) != list(other.users)
    assert first.log == second.log
    assert first.members == second.members


def test_changes_are_in_the_log_with_their_time() -> None:
    tenant = simulated_tenant(60, 5, NOW)
    before = len(tenant.log)
    change(tenant, 30)
    new = tenant.log[before:]
    assert len(new) >= 25
    assert all(entry["published"] > "2026-11-16T12:00:00" for entry in new)
    assert tenant.log == sorted(tenant.log, key=lambda entry: entry["published"])
