"""The tables of a synced tenant, and how what Okta sends becomes their rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SyncedTable:
    name: str
    columns: Mapping[str, str]
    """Types by name, as they are declared."""
    key: tuple[str, ...]
    references: Mapping[str, str]
    """The tables that columns refer to, each by its `id`."""
    noun: str
    """What one row is called where changes are listed."""

    @property
    def ddl(self) -> str:
        columns = [f'"{name}" {kind}' for name, kind in self.columns.items()]
        key = ", ".join(f'"{name}"' for name in self.key)
        links = [f'FOREIGN KEY ("{name}") REFERENCES "{table}" (id)' for name, table in self.references.items()]
        keys = [f"PRIMARY KEY ({key})"] if key else []
        return f'CREATE TABLE "{self.name}" ({", ".join([*columns, *keys, *links])})'

    @property
    def upsert(self) -> str:
        """Writes a row. One that is there already is left alone unless it differs."""
        marks = ", ".join("?" for _ in self.columns)
        rest = [f'"{name}"' for name in self.columns if name not in self.key]
        put = f'INSERT INTO "{self.name}" VALUES ({marks}) ON CONFLICT DO '  # noqa: S608 - names of this file
        if not rest:
            return f"{put}NOTHING"
        new = [f"excluded.{name}" for name in rest]
        changes = ", ".join(f"{old} = {value}" for old, value in zip(rest, new, strict=True))
        return f"{put}UPDATE SET {changes} WHERE ({', '.join(rest)}) IS NOT ({', '.join(new)})"

    def key_of(self, row: Row) -> Row:
        names = list(self.columns)
        return tuple(row[names.index(name)] for name in self.key)


def _table(name: str, noun: str, columns: str, key: str = "id", **references: str) -> SyncedTable:
    """`columns`: names, each with its type after a colon unless it is text."""
    pairs = (column.partition(":") for column in columns.split())
    typed = {
        column: {"t": "TIMESTAMP", "i": "INTEGER", "b": "BOOLEAN", "n": "REAL"}.get(kind, "TEXT")
        for column, _, kind in pairs
    }
    return SyncedTable(name, typed, tuple(key.split()), references, noun)


USERS = _table(
    "users",
    "user",
    "id login email first_name last_name name status department title city country user_type employee_number "
    "created:t activated:t last_login:t last_updated:t password_changed:t",
)
GROUPS = _table("groups", "group", "id name description group_type created:t last_updated:t membership_updated:t")
MEMBERSHIPS = _table(
    "group_memberships", "membership", "group_id user_id", "group_id user_id", group_id="groups", user_id="users"
)
RULES = _table("group_rules", "group rule", "id name rule_status expression created:t last_updated:t")
RULE_GROUPS = _table(
    "group_rule_groups",
    "group of a rule",
    "rule_id group_id",
    "rule_id group_id",
    rule_id="group_rules",
    group_id="groups",
)
APPLICATIONS = _table(
    "applications", "application", "id name catalog_name application_status sign_on_mode created:t last_updated:t"
)
APP_USERS = _table(
    "application_users",
    "assignment",
    "application_id user_id assigned:t",
    "application_id user_id",
    application_id="applications",
    user_id="users",
)
APP_GROUPS = _table(
    "application_groups",
    "group assignment",
    "application_id group_id priority:i assigned:t",
    "application_id group_id",
    application_id="applications",
    group_id="groups",
)
FACTORS = _table(
    "factors", "factor", "id user_id factor_type provider factor_status strength enrolled:t", "id", user_id="users"
)
DEVICES = _table(
    "devices",
    "device",
    "id name platform manufacturer model os_version serial_number device_status created:t last_updated:t",
)
DEVICE_USERS = _table(
    "device_users",
    "user of a device",
    "device_id user_id management linked:t",
    "device_id user_id",
    device_id="devices",
    user_id="users",
)
USER_ROLES = _table("user_roles", "role of a user", "id user_id role granted:t", "id user_id", user_id="users")
GROUP_ROLES = _table("group_roles", "role of a group", "id group_id role granted:t", "id group_id", group_id="groups")
POLICIES = _table(
    "policies", "policy", "id name policy_type policy_status priority:i system:b created:t last_updated:t"
)
POLICY_RULES = _table(
    "policy_rules",
    "rule of a policy",
    "id policy_id name rule_status priority:i created:t last_updated:t",
    "id",
    policy_id="policies",
)
ZONES = _table(
    "network_zones", "network zone", "id name zone_type usage zone_status addresses created:t last_updated:t"
)
SERVERS = _table(
    "authorization_servers",
    "authorization server",
    "id name description audiences issuer server_status created:t last_updated:t",
)
EVENTS = _table(
    "log_events",
    "event",
    "id published:t event_type message severity event_result event_reason actor_id actor user_id group_id "
    "application_id ip_address city country latitude:n longitude:n browser operating_system",
    "id",
    user_id="users",
)
SYNCED = (
    USERS,
    GROUPS,
    MEMBERSHIPS,
    RULES,
    RULE_GROUPS,
    APPLICATIONS,
    APP_USERS,
    APP_GROUPS,
    FACTORS,
    DEVICES,
    DEVICE_USERS,
    USER_ROLES,
    GROUP_ROLES,
    POLICIES,
    POLICY_RULES,
    ZONES,
    SERVERS,
    EVENTS,
)

CHANGES = _table("changes", "change", "id:i noticed:t entity entity_id name change details sync_id:i")
HISTORY = _table(
    "sync_history",
    "sync",
    "id:i kind status data_as_of:t started:t finished:t seconds:n requests:i pages:i rows:i "
    "added:i changed:i removed:i error",
)
ACCESS = _table(
    "application_access",
    "access",
    "user_id application_id given_by assigned:t group_rule member_since:t",
    "",
    user_id="users",
    application_id="applications",
)
ADMINISTRATORS = _table("administrators", "administrator", "user_id role given_by granted:t", "", user_id="users")
SIGN_INS = _table(
    "sign_ins",
    "sign-in",
    "id user_id signed_in:t result reason ip_address city country browser operating_system",
    "id",
    user_id="users",
)
RISKS = _table("login_risks", "risk", "user_id risk detected:t details", "", user_id="users")
DERIVED = (ACCESS, ADMINISTRATORS, SIGN_INS, RISKS)
"""Worked out from the others when a sync is complete."""

STRONG_FACTORS = ("webauthn", "signed_nonce", "u2f", "token:hardware")
"""Factors that withstand phishing."""


def user_rows(item: Mapping[str, Any]) -> Iterator[Row]:
    # attributes of a profile are of any type: tenants define their own
    p = {name: _text(value) for name, value in (item.get("profile") or {}).items()}
    name = p.get("displayName") or " ".join(filter(None, (p.get("firstName"), p.get("lastName")))) or p.get("login")
    yield (
        item["id"], p.get("login"), p.get("email"), p.get("firstName"), p.get("lastName"), name, item.get("status"),
        p.get("department"), p.get("title"), p.get("city"), p.get("countryCode"), p.get("userType"),
        p.get("employeeNumber"), moment(item.get("created")), moment(item.get("activated")),
        moment(item.get("lastLogin")), moment(item.get("lastUpdated")), moment(item.get("passwordChanged")),
    )  # fmt: skip


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def group_row(item: Mapping[str, Any]) -> Row:
    p = {name: _text(value) for name, value in (item.get("profile") or {}).items()}
    times = (item.get("created"), item.get("lastUpdated"), item.get("lastMembershipUpdated"))
    return (item["id"], p.get("name"), p.get("description"), item.get("type"), *map(moment, times))


def rule_row(item: Mapping[str, Any]) -> Row:
    expression = ((item.get("conditions") or {}).get("expression") or {}).get("value")
    return (item["id"], item.get("name"), item.get("status"), expression, *_times(item))


def rule_groups(item: Mapping[str, Any]) -> Iterator[Row]:
    for group in ((item.get("actions") or {}).get("assignUserToGroups") or {}).get("groupIds") or ():
        yield item["id"], group


def application_row(item: Mapping[str, Any]) -> Row:
    head = (item["id"], item.get("label"), item.get("name"), item.get("status"), item.get("signOnMode"))
    return (*head, *_times(item))


def app_user_rows(item: Mapping[str, Any], app: str) -> Iterator[Row]:
    """A user whom the application was given by name. Those who have it through a group follow from the groups."""
    if item.get("scope") == "USER":
        yield app, item["id"], moment(item.get("created"))


def app_group_row(item: Mapping[str, Any], app: str) -> Row:
    return app, item["id"], item.get("priority"), moment(item.get("lastUpdated"))


def factor_row(item: Mapping[str, Any], user: str) -> Row:
    kind = str(item.get("factorType") or "unknown")
    strength = "strong" if kind.startswith(STRONG_FACTORS) else "weak"
    return item["id"], user, kind, item.get("provider"), item.get("status"), strength, moment(item.get("created"))


def device_row(item: Mapping[str, Any]) -> Row:
    p = item.get("profile") or {}
    described = (
        p.get(name) for name in ("displayName", "platform", "manufacturer", "model", "osVersion", "serialNumber")
    )
    return (item["id"], *described, item.get("status"), *_times(item))


def device_users(item: Mapping[str, Any]) -> Iterator[Row]:
    for link in (item.get("_embedded") or {}).get("users") or ():
        yield item["id"], link["user"]["id"], link.get("managementStatus"), moment(link.get("created"))


def role_row(item: Mapping[str, Any], assignee: str) -> Row:
    return item["id"], assignee, item.get("label") or item.get("type"), moment(item.get("created"))


def policy_row(item: Mapping[str, Any]) -> Row:
    head = (item["id"], *map(item.get, ("name", "type", "status", "priority", "system")))
    return (*head, *_times(item))


def policy_rule_row(item: Mapping[str, Any], policy: str) -> Row:
    return (item["id"], policy, *map(item.get, ("name", "status", "priority")), *_times(item))


def zone_row(item: Mapping[str, Any]) -> Row:
    addresses = ", ".join(str(each.get("value")) for each in item.get("gateways") or ()) or None
    return (item["id"], *map(item.get, ("name", "type", "usage", "status")), addresses, *_times(item))


def server_row(item: Mapping[str, Any]) -> Row:
    audiences = ", ".join(item.get("audiences") or ())
    head = (item["id"], item.get("name"), item.get("description"), audiences, item.get("issuer"), item.get("status"))
    return (*head, *_times(item))


def event_row(item: Mapping[str, Any]) -> Row:
    client, outcome, actor = item.get("client") or {}, item.get("outcome") or {}, item.get("actor") or {}
    where, agent = client.get("geographicalContext") or {}, client.get("userAgent") or {}
    position = where.get("geolocation") or {}
    user = target_of(item, "User") or (actor.get("id") if actor.get("type") == "User" else None)
    return (
        item["uuid"], moment(item["published"]), item["eventType"], item.get("displayMessage"), item.get("severity"),
        outcome.get("result"), outcome.get("reason"), actor.get("id"), actor.get("displayName"), user,
        target_of(item, "UserGroup"), target_of(item, "AppInstance"), client.get("ipAddress"), where.get("city"),
        where.get("country"), position.get("lat"), position.get("lon"), agent.get("browser"), agent.get("os"),
    )  # fmt: skip


def target_of(event: Mapping[str, Any], kind: str) -> str | None:
    """The id of the first thing of that kind that an event is about."""
    return next((str(each["id"]) for each in event.get("target") or () if each.get("type") == kind), None)


def moment(text: str | None) -> str | None:
    """A time as SQLite compares it: `2026-11-16 12:00:00`."""
    return None if text is None else str(text)[:19].replace("T", " ")


def _times(item: Mapping[str, Any]) -> Sequence[str | None]:
    return moment(item.get("created")), moment(item.get("lastUpdated"))
