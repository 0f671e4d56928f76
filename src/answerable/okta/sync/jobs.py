"""What a sync reads: a job is one list of Okta, from its first page to its last."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from answerable.okta.sync import tables
from answerable.okta.sync.tables import Row, SyncedTable

POLICY_TYPES = ("OKTA_SIGN_ON", "PASSWORD", "MFA_ENROLL", "ACCESS_POLICY", "PROFILE_ENROLLMENT", "IDP_DISCOVERY")
_NO_FACTORS = ("STAGED", "PROVISIONED", "DEPROVISIONED")
"""States in which a user has no factors."""


@dataclass(frozen=True, slots=True)
class SyncJob:
    kind: str
    key: str = ""
    """The id of the thing whose list it is, or two ids with a slash between them; empty for a list of the tenant."""


@dataclass(frozen=True, slots=True)
class Content:
    """What one page holds."""

    rows: Mapping[SyncedTable, Sequence[Row]]
    jobs: Sequence[SyncJob] = ()
    """Lists that belong to what is on the page."""


@dataclass(frozen=True, slots=True)
class Since:
    """What was known before: None for everything is new."""

    time: str | None
    """As Okta writes times."""
    known: frozenset[str] = frozenset()
    """Ids of groups and applications, and of users whose factors are known."""


@dataclass(frozen=True, slots=True)
class JobKind:
    scope: str
    first: Callable[[str, Since], str]
    """Path of the first page, by the key of the job."""
    read: Callable[[Sequence[Any], str, Since], Content]
    swept: Mapping[SyncedTable, str | None] = field(default_factory=dict)
    """Tables that the list is the whole of, or, with a column, of the rows that have the job's key there. Several
    columns have a slash between them, like the key."""
    part_if_since: bool = False
    """Whether the list has only what is new if something was known before. Then nothing may be taken as gone."""
    items: Callable[[Any], Sequence[Any]] = lambda body: body


def _path(path: str, **params: object) -> str:
    return f"/api/v1/{path}?{urlencode(params)}" if params else f"/api/v1/{path}"


def _after(since: Since, *fields: str) -> str:
    time = since.time or "1970-01-01T00:00:00.000Z"
    return " or ".join(f'{name} gt "{time}"' for name in fields)


def _rows(table: SyncedTable, row: Callable[[Any], Row]) -> Callable[[Sequence[Any], str, Since], Content]:
    return lambda items, _key, _since: Content({table: [row(item) for item in items]})


def _keyed(table: SyncedTable, row: Callable[[Any, str], Row]) -> Callable[[Sequence[Any], str, Since], Content]:
    return lambda items, key, _since: Content({table: [row(item, key) for item in items]})


def _all(rows: Iterable[Iterable[Row]]) -> list[Row]:
    return [row for each in rows for row in each]


def may_have_factors(status: str | None) -> bool:
    return status not in _NO_FACTORS


def _read_users(items: Sequence[Any], _key: str, since: Since) -> Content:
    new = (item for item in items if item["id"] not in since.known)
    with_factors = [SyncJob("factors", item["id"]) for item in new if may_have_factors(item.get("status"))]
    return Content({tables.USERS: _all(map(tables.user_rows, items))}, with_factors)


def _read_groups(items: Sequence[Any], _key: str, since: Since) -> Content:
    jobs = [SyncJob("members", item["id"]) for item in items if since.time is None or item["id"] not in since.known]
    stats = {item["id"]: (item.get("_embedded") or {}).get("stats") or {} for item in items}
    jobs += [SyncJob("group_roles", key) for key, figures in stats.items() if figures.get("hasAdminPrivilege", True)]
    return Content({tables.GROUPS: [tables.group_row(item) for item in items]}, jobs)


def _read_rules(items: Sequence[Any], _key: str, _since: Since) -> Content:
    groups = _all(map(tables.rule_groups, items))
    return Content({tables.RULES: [tables.rule_row(item) for item in items], tables.RULE_GROUPS: groups})


def _read_apps(items: Sequence[Any], _key: str, since: Since) -> Content:
    changed = [
        item["id"]
        for item in items
        if since.time is None or item["id"] not in since.known or (item.get("lastUpdated") or "9999") > since.time
    ]
    jobs = [SyncJob(kind, app) for app in changed for kind in ("app_users", "app_groups")]
    return Content({tables.APPLICATIONS: [tables.application_row(item) for item in items]}, jobs)


def _read_app_users(items: Sequence[Any], key: str, _since: Since) -> Content:
    app = key.partition("/")[0]
    return Content({tables.APP_USERS: _all(tables.app_user_rows(item, app) for item in items)})


def _read_devices(items: Sequence[Any], _key: str, _since: Since) -> Content:
    users = _all(map(tables.device_users, items))
    return Content({tables.DEVICES: [tables.device_row(item) for item in items], tables.DEVICE_USERS: users})


def _read_policies(items: Sequence[Any], _key: str, _since: Since) -> Content:
    jobs = [SyncJob("policy_rules", item["id"]) for item in items]
    return Content({tables.POLICIES: [tables.policy_row(item) for item in items]}, jobs)


def _read_user_roles(items: Sequence[Any], key: str, _since: Since) -> Content:
    # roles that come through a group are read with the groups
    own = [tables.role_row(item, key) for item in items if item.get("assignmentType") == "USER"]
    return Content({tables.USER_ROLES: own})


def _groups_path(_key: str, since: Since) -> str:
    if since.time is None:
        return _path("groups", limit=200, expand="stats")
    return _path("groups", limit=200, expand="stats", filter=_after(since, "lastUpdated", "lastMembershipUpdated"))


def _devices_path(_key: str, since: Since) -> str:
    search = {} if since.time is None else {"search": _after(since, "lastUpdated")}
    return _path("devices", limit=200, expand="user", **search)


def _of(template: str, **params: object) -> Callable[[str, Since], str]:
    return lambda key, _since: _path(template.replace("{key}", quote(key, safe="")), **params)


USERS_SCOPE, GROUPS_SCOPE, APPS_SCOPE = "okta.users.read", "okta.groups.read", "okta.apps.read"
ROLES_SCOPE, POLICIES_SCOPE, DEVICES_SCOPE = "okta.roles.read", "okta.policies.read", "okta.devices.read"

JOB_KINDS: Mapping[str, JobKind] = {
    "users": JobKind(
        USERS_SCOPE,
        # a search, because it finds deactivated users too
        lambda _, since: _path("users", limit=200, search=_after(since, "lastUpdated")),
        _read_users,
        {tables.USERS: None},
        part_if_since=True,
    ),
    "groups": JobKind(GROUPS_SCOPE, _groups_path, _read_groups, {tables.GROUPS: None}, part_if_since=True),
    "members": JobKind(
        GROUPS_SCOPE,
        _of("groups/{key}/users", limit=1000),
        _keyed(tables.MEMBERSHIPS, lambda item, key: (key, item["id"])),
        {tables.MEMBERSHIPS: "group_id"},
    ),
    "rules": JobKind(
        GROUPS_SCOPE, _of("groups/rules", limit=200), _read_rules, {tables.RULES: None, tables.RULE_GROUPS: None}
    ),
    "apps": JobKind(APPS_SCOPE, _of("apps", limit=200), _read_apps, {tables.APPLICATIONS: None}),
    "app_users": JobKind(
        APPS_SCOPE,
        _of("apps/{key}/users", limit=500),
        _read_app_users,
        {tables.APP_USERS: "application_id"},
    ),
    "app_user": JobKind(
        APPS_SCOPE,
        lambda key, _since: _path(key.replace("/", "/users/").join(("apps/", ""))),
        _read_app_users,
        {tables.APP_USERS: "application_id/user_id"},
        items=lambda body: [body],
    ),
    "app_groups": JobKind(
        APPS_SCOPE,
        _of("apps/{key}/groups", limit=200),
        _keyed(tables.APP_GROUPS, tables.app_group_row),
        {tables.APP_GROUPS: "application_id"},
    ),
    "factors": JobKind(
        USERS_SCOPE,
        _of("users/{key}/factors"),
        _keyed(tables.FACTORS, tables.factor_row),
        {tables.FACTORS: "user_id"},
    ),
    "devices": JobKind(
        DEVICES_SCOPE,
        _devices_path,
        _read_devices,
        {tables.DEVICES: None, tables.DEVICE_USERS: None},
        part_if_since=True,
    ),
    "admins": JobKind(
        ROLES_SCOPE,
        _of("iam/assignees/users", limit=100),
        lambda items, _key, _since: Content({}, [SyncJob("user_roles", item["id"]) for item in items]),
        items=lambda body: body["value"],
    ),
    "user_roles": JobKind(ROLES_SCOPE, _of("users/{key}/roles"), _read_user_roles, {tables.USER_ROLES: "user_id"}),
    "group_roles": JobKind(
        ROLES_SCOPE,
        _of("groups/{key}/roles"),
        _keyed(tables.GROUP_ROLES, tables.role_row),
        {tables.GROUP_ROLES: "group_id"},
    ),
    "policies": JobKind(
        POLICIES_SCOPE,
        lambda key, _since: _path("policies", type=key),
        _read_policies,
        {tables.POLICIES: "policy_type"},
    ),
    "policy_rules": JobKind(
        POLICIES_SCOPE,
        _of("policies/{key}/rules"),
        _keyed(tables.POLICY_RULES, tables.policy_rule_row),
        {tables.POLICY_RULES: "policy_id"},
    ),
    "zones": JobKind(
        "okta.networkZones.read", _of("zones"), _rows(tables.ZONES, tables.zone_row), {tables.ZONES: None}
    ),
    "servers": JobKind(
        "okta.authorizationServers.read",
        _of("authorizationServers"),
        _rows(tables.SERVERS, tables.server_row),
        {tables.SERVERS: None},
    ),
    "log": JobKind(
        "okta.logs.read",
        lambda key, _since: _path("logs", limit=1000, sortOrder="ASCENDING", since=key),
        _rows(tables.EVENTS, tables.event_row),
    ),
}
"""Every kind of list that a sync reads. The key of `log` is the time from which it is read."""

FIRST_JOBS = (
    *(SyncJob(kind) for kind in ("users", "groups", "apps", "rules", "devices", "admins", "zones", "servers")),
    *(SyncJob("policies", kind) for kind in POLICY_TYPES),
)
"""What a sync begins with. The log is read after all of it, for what happened meanwhile."""


def follow_ups(event: Mapping[str, Any]) -> list[SyncJob]:
    """Lists that an event of the log has made out of date."""
    kind = event["eventType"]
    user, group, app = (tables.target_of(event, each) for each in ("User", "UserGroup", "AppInstance"))
    if kind.startswith(("user.mfa.factor.", "device.enrollment.")) and user:
        return [SyncJob("factors", user)]
    if kind.startswith(("user.account.privilege.", "group.privilege.")):
        return [SyncJob("admins"), *([SyncJob("group_roles", group)] if group else [])]
    if kind.startswith("application.user_membership.") and app and user:
        return [SyncJob("app_user", f"{app}/{user}")]
    if kind.startswith("group.application_assignment.") and app:
        return [SyncJob("app_users", app), SyncJob("app_groups", app)]
    return []
