"""The endpoints: their paths, the scope that each needs, its limit in requests a minute, and what it answers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import orjson

from answerable.okta.simulator import problems, rendering
from answerable.okta.simulator.listings import Page, PagedList, address, expression, limit_of, page
from answerable.okta.simulator.people import POLICY_TYPES, ROLES
from answerable.okta.simulator.tenant import Item, Items, Tenant, stamp


@dataclass(frozen=True, slots=True)
class Asked:
    tenant: Tenant
    host: str
    path: str
    params: Mapping[str, str]
    ids: Mapping[str, str]

    def page(self, listing: PagedList) -> Page:
        return page(listing, self.host, self.path, self.params)

    def whole(self, items: Sequence[Item], render: Callable[[str, Item], Item]) -> Page:
        """A list that has no pages."""
        return Page([render(self.host, item) for item in items], ())

    def one(self, items: Items, kind: str) -> Item:
        found = items.get(self.ids["id"])
        if found is None:
            raise problems.not_found(self.ids["id"], kind)
        return found

    def part(self, items: Sequence[Item], kind: str) -> Item:
        """The one of the things of another thing that the end of the path names."""
        found = next((item for item in items if item["id"] == self.ids["part"]), None)
        if found is None:
            raise problems.not_found(self.ids["part"], kind)
        return found

    @property
    def user(self) -> Item:
        found = self.tenant.user_by(self.ids["id"])
        if found is None:
            raise problems.not_found(self.ids["id"], "User")
        return found

    @property
    def group(self) -> Item:
        return self.one(self.tenant.groups, "UserGroup")

    @property
    def app(self) -> Item:
        return self.one(self.tenant.apps, "AppInstance")


Reply: TypeAlias = Page | Item


@dataclass(frozen=True, slots=True)
class SimulatedEndpoint:
    path: str
    scope: str
    a_minute: int
    answer: Callable[[Asked], Reply]


def _not_gone(item: Mapping[str, Any]) -> bool:
    return bool(item["status"] != "DEPROVISIONED")


def _users(asked: Asked) -> Page:
    searched = ("profile.firstName", "profile.lastName", "profile.email")
    return asked.page(PagedList(asked.tenant.users, rendering.user, "User", 200, 200, searched, _not_gone))


def _user_groups(asked: Asked) -> Page:
    return asked.page(PagedList(asked.tenant.groups_of(asked.user["id"]), rendering.group, "UserGroup", 200, 200))


def _user_roles(asked: Asked) -> Page:
    user = asked.user["id"]
    tenant = asked.tenant
    direct = tenant.roles.get(user, [])
    through = [
        role for group in tenant.groups_of(user) for role in tenant.roles.get(group["id"], []) if group["id"] != user
    ]
    return asked.whole([*direct, *through], rendering.role(f"users/{user}"))


def _user_factors(asked: Asked) -> Page:
    user = asked.user["id"]
    return asked.whole(asked.tenant.factors.get(user, []), rendering.factor(user))


def _user_factor(asked: Asked) -> Item:
    user = asked.user["id"]
    return rendering.factor(user)(asked.host, asked.part(asked.tenant.factors.get(user, []), "UserFactor"))


def _app_links(asked: Asked) -> Page:
    user, tenant = asked.user["id"], asked.tenant
    apps = [app for app in tenant.apps if any(each["id"] == user for each in tenant.assigned(app["id"]))]
    links = [
        {
            "id": f"00u{app['id'][3:]}",
            "label": app["label"],
            "linkUrl": f"{asked.host}/home/{app['name']}/{app['id']}",
            "logoUrl": f"{asked.host}/assets/{app['name']}.png",
            "appName": app["name"],
            "appInstanceId": app["id"],
            "appAssignmentId": f"0ua{app['id'][3:]}",
            "credentialsSetup": False,
            "hidden": False,
            "sortOrder": number,
        }
        for number, app in enumerate(apps)
    ]
    return asked.whole(links, rendering.plain)


def _groups(asked: Asked) -> Page:
    with_stats = "stats" in asked.params.get("expand", "")
    render = _with_stats(asked.tenant) if with_stats else rendering.group
    most = 200 if with_stats else 10_000
    return asked.page(PagedList(asked.tenant.groups, render, "UserGroup", most, most, ("profile.name",)))


def _with_stats(tenant: Tenant) -> Callable[[str, Item], Item]:
    def rendered(host: str, item: Item) -> Item:
        apps = sum(item["id"] in groups for groups in tenant.app_groups.values())
        stats = {
            "usersCount": len(tenant.members.get(item["id"], ())),
            "appsCount": apps,
            "groupPushMappingsCount": 0,
            "hasAdminPrivilege": item["id"] in tenant.roles,
        }
        return {**rendering.group(host, item), "_embedded": {"stats": stats}}

    return rendered


def _group_users(asked: Asked) -> Page:
    users = asked.tenant.users
    members = [users[key] for key in asked.tenant.members.get(asked.group["id"], ())]
    return asked.page(PagedList(members, rendering.user, "User", 1000, 1000))


def _group_apps(asked: Asked) -> Page:
    group, tenant = asked.group["id"], asked.tenant
    apps = [app for app in tenant.apps if group in tenant.app_groups.get(app["id"], {})]
    return asked.page(PagedList(apps, rendering.app, "AppInstance", 20, 200))


def _group_roles(asked: Asked) -> Page:
    group = asked.group["id"]
    return asked.whole(asked.tenant.roles.get(group, []), rendering.role(f"groups/{group}"))


def _rules(asked: Asked) -> Page:
    # `search` of rules is a word of their names, not an expression
    word = asked.params.get("search", "").casefold()
    found = [rule for rule in asked.tenant.rules if word in rule["name"].casefold()]
    asked = replace(asked, params={name: value for name, value in asked.params.items() if name != "search"})
    return asked.page(PagedList(found, rendering.plain, "GroupRule", 50, 200))


def _apps(asked: Asked) -> Page:
    tenant = asked.tenant
    owner = re.fullmatch(r'\s*(user|group)\.id eq "([^"]*)"\s*', asked.params.get("filter", ""))
    apps: Items | Sequence[Item] = tenant.apps
    if owner is not None:  # the applications of somebody, or of a group
        kind, key = owner.groups()
        given = tenant.has_app if kind == "user" else tenant.gives_app
        apps = [app for app in tenant.apps if given(key, app["id"])]
        asked = replace(asked, params={name: value for name, value in asked.params.items() if name != "filter"})
    return asked.page(PagedList(apps, rendering.app, "AppInstance", 20, 200, ("label", "name")))


def _app_users(asked: Asked) -> Page:
    app = asked.app["id"]
    searched = ("credentials.userName",)
    return asked.page(PagedList(asked.tenant.assigned(app), rendering.app_user(app), "AppUser", 50, 500, searched))


def _app_user(asked: Asked) -> Item:
    app = asked.app["id"]
    return rendering.app_user(app)(asked.host, asked.part(asked.tenant.assigned(app), "AppUser"))


def _app_groups(asked: Asked) -> Page:
    app = asked.app["id"]
    given = asked.tenant.app_groups.get(app, {})
    return asked.page(PagedList([given[key] for key in sorted(given)], rendering.app_group(app), "AppGroup", 20, 200))


def _app_group(asked: Asked) -> Item:
    app = asked.app["id"]
    given = list(asked.tenant.app_groups.get(app, {}).values())
    return rendering.app_group(app)(asked.host, asked.part(given, "AppGroup"))


def _devices(asked: Asked) -> Page:
    expand = asked.params.get("expand")
    render = rendering.device if expand is None else _with_users(asked.tenant)
    return asked.page(PagedList(asked.tenant.devices, render, "Device", 200, 200))


def _with_users(tenant: Tenant) -> Callable[[str, Item], Item]:
    def rendered(host: str, item: Item) -> Item:
        return {**rendering.device(host, item), "_embedded": {"users": _users_of_device(tenant, host, item["id"])}}

    return rendered


def _users_of_device(tenant: Tenant, host: str, device: str) -> list[Item]:
    links = [link for link in tenant.device_users.get(device, []) if tenant.users.get(link["user"]) is not None]
    return [{**link, "user": rendering.whole_user(host, tenant.users[link["user"]])} for link in links]


def _device_users(asked: Asked) -> Page:
    device = asked.one(asked.tenant.devices, "Device")
    return Page(_users_of_device(asked.tenant, asked.host, device["id"]), ())


def _admins(asked: Asked) -> Item:
    """Users with a role, whether by name or through a group."""
    tenant = asked.tenant
    groups = [key for key in tenant.roles if key.startswith("00g")]
    ids = {key for key in tenant.roles if key.startswith("00u")} | {
        u for g in groups for u in tenant.members.get(g, [])
    }
    found = asked.page(PagedList([{"id": key} for key in sorted(ids)], _assignee, "User", 100, 200))
    following = {relation: {"href": href} for relation, href in found.links if relation == "next"}
    return {"value": list(found.items), "_links": following}


def _assignee(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/users/{item['id']}"
    links = {"self": {"href": here}, "roles": {"href": f"{here}/roles"}}
    return {"id": item["id"], "orn": f"orn:okta:directory:00o0000simulatoR05d7:users:{item['id']}", "_links": links}


def _policies(asked: Asked) -> Page:
    wanted = asked.params.get("type")
    if wanted not in POLICY_TYPES:
        raise problems.invalid_parameter("type", "The policy type is missing or unknown.")
    found = [policy for policy in asked.tenant.policies if policy["type"] == wanted]
    return asked.page(PagedList(found, rendering.policy, "Policy", 20, 200, tells_limit=False))


def _policy_rules(asked: Asked) -> Page:
    policy = asked.one(asked.tenant.policies, "Policy")["id"]
    return asked.whole(asked.tenant.policy_rules.get(policy, []), rendering.hinted(f"policies/{policy}/rules"))


def _policy_rule(asked: Asked) -> Item:
    policy = asked.one(asked.tenant.policies, "Policy")["id"]
    rule = asked.part(asked.tenant.policy_rules.get(policy, []), "PolicyRule")
    return rendering.hinted(f"policies/{policy}/rules")(asked.host, rule)


def _zones(asked: Asked) -> Page:
    return asked.page(PagedList(asked.tenant.zones, rendering.hinted("zones"), "NetworkZone", 20, 200))


def _servers(asked: Asked) -> Page:
    render, servers = rendering.authorization_server, asked.tenant.authorization_servers
    return asked.page(PagedList(servers, render, "AuthorizationServer", 200, 200, ("name",)))


def _server(asked: Asked) -> Item:
    servers = asked.tenant.authorization_servers
    by_name = next((each for each in servers if each["name"] == asked.ids["id"]), None)
    return rendering.authorization_server(asked.host, by_name or asked.one(servers, "AuthorizationServer"))


def _log(asked: Asked) -> Page:
    """Entries from `since` to `until`. A request without `until` can be followed for ever: its last page names the
    next one too, where later entries will be. The newest first has an end."""
    params, log = asked.params, asked.tenant.log
    until = _moment(params, "until") or "9999"
    since = _moment(params, "since") or stamp(asked.tenant.now - timedelta(days=7))
    limit = limit_of(params, 100, 1000)
    if "after" in params and not params["after"].isdecimal():
        raise problems.invalid_cursor("LogEvent")
    newest_first = params.get("sortOrder") == "DESCENDING"
    position = int(params.get("after", len(log) - 1 if newest_first else 0))
    step = -1 if newest_first else 1
    words = params.get("q", "").casefold().split()
    wanted = expression(params) or (lambda _entry: True)
    found: list[Item] = []
    while 0 <= position < len(log) and len(found) < limit:
        entry = log[position]
        if since <= entry["published"] < until and wanted(entry) and _has_words(entry, words):
            found.append(entry)
        position += step
    repeated = {name: value for name, value in params.items() if name != "after"} | {"limit": str(limit)}
    links = [("self", address(asked.host, asked.path, params))]
    is_endless = "until" not in params and not newest_first
    if is_endless or (found and 0 <= position < len(log)):
        links.append(("next", address(asked.host, asked.path, {"after": str(position), **repeated})))
    return Page(found, links)


def _has_words(entry: Item, words: Sequence[str]) -> bool:
    text = orjson.dumps(entry).decode().casefold() if words else ""
    return all(word in text for word in words)


def _moment(params: Mapping[str, str], name: str) -> str | None:
    """A time of a request as the log writes it. Raises `OktaProblem` if it is none; a part of one will do."""
    text = params.get(name)
    if text and not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?", text):
        raise problems.invalid_parameter(name, f"{name}: The field must be a date and time as ISO 8601 writes it.")
    if text and re.search(r"T.*([+-]\d\d:?\d\d)$", text):
        return stamp(datetime.fromisoformat(text).astimezone(UTC))
    return text


def _org(asked: Asked) -> Item:
    return {
        "id": "00o0000simulatoR05d7",
        "subdomain": "simulated",
        "companyName": "Acme",
        "status": "ACTIVE",
        "created": asked.tenant.at(days=2200),
        "lastUpdated": asked.tenant.at(days=100),
        "_links": {"contacts": {"href": f"{asked.host}/api/v1/org/contacts"}},
    }


def _roles(asked: Asked) -> Item:
    since = asked.tenant.at(days=2200)
    here = f"{asked.host}/api/v1/iam/roles"
    roles = [
        {
            "id": kind,
            "label": label,
            "description": label,
            "created": since,
            "lastUpdated": since,
            "_links": {
                "permissions": {"href": f"{here}/{kind}/permissions"},
                "self": {"href": f"{here}/{kind}"},
            },
        }
        for kind, label in ROLES.items()
    ]
    return {"roles": roles, "_links": {"self": {"href": f"{asked.host}/api/v1/iam/roles"}}}


ENDPOINTS = (
    SimulatedEndpoint("/api/v1/org", "okta.orgs.read", 600, _org),
    SimulatedEndpoint("/api/v1/users", "okta.users.read", 600, _users),
    SimulatedEndpoint("/api/v1/users/{id}", "okta.users.read", 2000, lambda a: rendering.whole_user(a.host, a.user)),
    SimulatedEndpoint("/api/v1/users/{id}/groups", "okta.users.read", 1000, _user_groups),
    SimulatedEndpoint("/api/v1/users/{id}/roles", "okta.roles.read", 1000, _user_roles),
    SimulatedEndpoint("/api/v1/users/{id}/factors", "okta.users.read", 1000, _user_factors),
    SimulatedEndpoint("/api/v1/users/{id}/factors/{part}", "okta.users.read", 1000, _user_factor),
    SimulatedEndpoint("/api/v1/users/{id}/appLinks", "okta.users.read", 1000, _app_links),
    SimulatedEndpoint("/api/v1/groups", "okta.groups.read", 500, _groups),
    SimulatedEndpoint("/api/v1/groups/rules", "okta.groups.read", 500, _rules),
    SimulatedEndpoint(
        "/api/v1/groups/rules/{id}", "okta.groups.read", 500, lambda a: a.one(a.tenant.rules, "GroupRule")
    ),
    SimulatedEndpoint("/api/v1/groups/{id}", "okta.groups.read", 1000, lambda a: rendering.group(a.host, a.group)),
    SimulatedEndpoint("/api/v1/groups/{id}/users", "okta.groups.read", 500, _group_users),
    SimulatedEndpoint("/api/v1/groups/{id}/apps", "okta.groups.read", 500, _group_apps),
    SimulatedEndpoint("/api/v1/groups/{id}/roles", "okta.roles.read", 500, _group_roles),
    SimulatedEndpoint("/api/v1/apps", "okta.apps.read", 100, _apps),
    SimulatedEndpoint("/api/v1/apps/{id}", "okta.apps.read", 500, lambda a: rendering.app(a.host, a.app)),
    SimulatedEndpoint("/api/v1/apps/{id}/users", "okta.apps.read", 500, _app_users),
    SimulatedEndpoint("/api/v1/apps/{id}/users/{part}", "okta.apps.read", 500, _app_user),
    SimulatedEndpoint("/api/v1/apps/{id}/groups", "okta.apps.read", 500, _app_groups),
    SimulatedEndpoint("/api/v1/apps/{id}/groups/{part}", "okta.apps.read", 500, _app_group),
    SimulatedEndpoint("/api/v1/devices", "okta.devices.read", 300, _devices),
    SimulatedEndpoint(
        "/api/v1/devices/{id}",
        "okta.devices.read",
        300,
        lambda a: rendering.whole_device(a.host, a.one(a.tenant.devices, "Device")),
    ),
    SimulatedEndpoint("/api/v1/devices/{id}/users", "okta.devices.read", 300, _device_users),
    SimulatedEndpoint("/api/v1/iam/roles", "okta.roles.read", 100, _roles),
    SimulatedEndpoint("/api/v1/iam/assignees/users", "okta.roles.read", 100, _admins),
    SimulatedEndpoint("/api/v1/policies", "okta.policies.read", 100, _policies),
    SimulatedEndpoint(
        "/api/v1/policies/{id}",
        "okta.policies.read",
        500,
        lambda a: rendering.policy(a.host, a.one(a.tenant.policies, "Policy")),
    ),
    SimulatedEndpoint("/api/v1/policies/{id}/rules", "okta.policies.read", 500, _policy_rules),
    SimulatedEndpoint("/api/v1/policies/{id}/rules/{part}", "okta.policies.read", 500, _policy_rule),
    SimulatedEndpoint("/api/v1/zones", "okta.networkZones.read", 100, _zones),
    SimulatedEndpoint(
        "/api/v1/zones/{id}",
        "okta.networkZones.read",
        100,
        lambda a: rendering.hinted("zones")(a.host, a.one(a.tenant.zones, "NetworkZone")),
    ),
    SimulatedEndpoint("/api/v1/authorizationServers", "okta.authorizationServers.read", 500, _servers),
    SimulatedEndpoint("/api/v1/authorizationServers/{id}", "okta.authorizationServers.read", 500, _server),
    SimulatedEndpoint("/api/v1/logs", "okta.logs.read", 120, _log),
)
