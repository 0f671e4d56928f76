"""Makes a tenant from a seed: the same seed, number of users and time give the same tenant."""

import unicodedata
from collections.abc import Callable
from datetime import datetime

from answerable.okta.simulator.history import add_log
from answerable.okta.simulator.people import (
    APPLICATIONS,
    CITIES,
    DEPARTMENTS,
    DEVICE_MODELS,
    FIRST_NAMES,
    LAST_NAMES,
    PROJECTS,
    ROLES,
)
from answerable.okta.simulator.policies import add_policies, add_zones_and_servers
from answerable.okta.simulator.tenant import Item, Tenant, named

YEARS_OF_HISTORY = 6


def simulated_tenant(users: int, seed: int, now: datetime, groups: int | None = None) -> Tenant:
    """`groups`: how many there are besides those of departments, cities and roles."""
    tenant = Tenant(seed, now)
    for number in range(users):
        tenant.users.add(new_user(tenant, number, _status(tenant, number)))
    _add_groups(tenant, max(6, users // 50) if groups is None else groups)
    _add_rules(tenant)
    _add_applications(tenant)
    for user in tenant.users:
        enrol(tenant, user)
    _add_roles(tenant)
    _add_devices(tenant)
    add_policies(tenant)
    add_zones_and_servers(tenant)
    add_log(tenant)
    return tenant


# Users


def _status(tenant: Tenant, number: int) -> str:
    # the first users are administrators, and those are active
    if number < 8:
        return "ACTIVE"
    statuses = ("ACTIVE", "DEPROVISIONED", "SUSPENDED", "LOCKED_OUT", "PASSWORD_EXPIRED", "PROVISIONED", "STAGED")
    return tenant.random.choices(statuses, weights=(86, 5, 2, 1, 2, 2, 2))[0]


def new_user(tenant: Tenant, number: int, status: str, created: str | None = None) -> Item:
    random = tenant.random
    first, last = random.choice(FIRST_NAMES), random.choice(LAST_NAMES)
    department = random.choices(list(DEPARTMENTS), weights=(30, 18, 8, 9, 14, 4, 3, 7, 7))[0]
    city = random.choice(list(CITIES))
    login = f"{_ascii(first)}.{_ascii(last)}{number}@acme.example"
    created = created or tenant.at(days=random.randint(40, 365 * YEARS_OF_HISTORY), seconds=random.randint(0, 86_399))
    activated = None if status == "STAGED" else created
    last_login = _last_login(tenant, status, created)
    return {
        "id": tenant.new_id("00u"),
        "status": status,
        "created": created,
        "activated": activated,
        "statusChanged": activated,
        "lastLogin": last_login,
        "lastUpdated": max(created, tenant.at(days=random.randint(8, 400))),
        "passwordChanged": activated,
        "type": {"id": "oty00000simulatoR5d7"},
        "profile": {
            "firstName": first,
            "lastName": last,
            "mobilePhone": None,
            "secondEmail": None,
            "login": login,
            "email": login,
            "displayName": f"{first} {last}",
            "department": department,
            "title": random.choice(DEPARTMENTS[department]),
            "city": city,
            "countryCode": CITIES[city][0],
            "employeeNumber": str(10_000 + number),
            "userType": "Contractor" if random.random() < 0.12 else "Employee",
        },
        "credentials": {
            "password": {},
            "emails": [{"value": login, "status": "VERIFIED", "type": "PRIMARY"}],
            "provider": {"type": "OKTA", "name": "OKTA"},
        },
    }


def _last_login(tenant: Tenant, status: str, created: str) -> str | None:
    random = tenant.random
    if status in ("STAGED", "PROVISIONED") or random.random() < 0.02:
        return None
    dormant = status in ("DEPROVISIONED", "SUSPENDED") or random.random() < 0.06
    days = random.uniform(95, 400) if dormant else min(random.expovariate(1 / 9), 80)
    return max(created, tenant.at(days=days))


def _ascii(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("ı", "i")).encode("ascii", "ignore").decode()
    return plain.replace("'", "").lower()


# Groups and rules


def _add_groups(tenant: Tenant, projects: int) -> None:
    present = [user for user in tenant.users if user["status"] != "DEPROVISIONED"]
    _group(tenant, "Everyone", "All users in your organization", "BUILT_IN", lambda _: True, present)
    for department in DEPARTMENTS:
        _group(
            tenant, f"dept-{department.lower()}", f"Everyone in {department}", "OKTA_GROUP", _in(department), present
        )
    for city in CITIES:
        name = f"office-{_ascii(city).replace(' ', '-')}"
        _group(tenant, name, f"People who work in {city}", "OKTA_GROUP", _works_in(city), present)
    _group(tenant, "external-staff", "Contractors", "OKTA_GROUP", _is_contractor, present)
    admins = {user["id"] for user in list(tenant.users)[:4]}
    _group(
        tenant,
        "sso-super-admins",
        "Administrators of single sign-on",
        "OKTA_GROUP",
        lambda u: u["id"] in admins,
        present,
    )
    helpers = {user["id"] for user in list(tenant.users)[4:8]}
    _group(tenant, "sso-help-desk", "Help desk for single sign-on", "OKTA_GROUP", lambda u: u["id"] in helpers, present)
    _group(tenant, "vpn-users", "May use the VPN", "OKTA_GROUP", _chance(tenant, 0.3), present)
    _group(tenant, "break-glass", "For emergencies", "OKTA_GROUP", lambda _: False, present)
    for number in range(projects):
        name = f"project-{PROJECTS[number % len(PROJECTS)]}" + (f"-{number // len(PROJECTS)}" if number >= 10 else "")
        kind = "APP_GROUP" if number % 7 == 5 else "OKTA_GROUP"
        share = 0 if number % 9 == 8 else tenant.random.uniform(0.002, 0.03)
        _group(tenant, name, None, kind, _chance(tenant, share), present)


def _group(
    tenant: Tenant, name: str, description: str | None, kind: str, holds: Callable[[Item], bool], users: list[Item]
) -> Item:
    created = tenant.at(days=tenant.random.randint(60, 365 * YEARS_OF_HISTORY))
    updated = max(created, tenant.at(days=tenant.random.randint(1, 300)))
    group = tenant.groups.add(
        {
            "id": tenant.new_id("00g"),
            "created": created,
            "lastUpdated": created,
            "lastMembershipUpdated": updated,
            "objectClass": ["okta:windows_security_principal" if kind == "APP_GROUP" else "okta:user_group"],
            "type": kind,
            "profile": {"name": name, "description": description},
        }
    )
    tenant.members[group["id"]] = [user["id"] for user in users if holds(user)]
    return group


def _in(department: str) -> Callable[[Item], bool]:
    return lambda user: bool(user["profile"]["department"] == department)


def _works_in(city: str) -> Callable[[Item], bool]:
    return lambda user: bool(user["profile"]["city"] == city)


def _is_contractor(user: Item) -> bool:
    return bool(user["profile"]["userType"] == "Contractor")


def _chance(tenant: Tenant, share: float) -> Callable[[Item], bool]:
    return lambda _: tenant.random.random() < share


def _add_rules(tenant: Tenant) -> None:
    for department in DEPARTMENTS:
        _rule(tenant, f"{department} staff", f'user.department=="{department}"', f"dept-{department.lower()}")
    for city in CITIES:
        _rule(tenant, f"{city} office", f'user.city=="{city}"', f"office-{_ascii(city).replace(' ', '-')}")
    _rule(tenant, "Contractors", 'user.userType=="Contractor"', "external-staff")


def _rule(tenant: Tenant, name: str, expression: str, group: str) -> None:
    created = tenant.at(days=tenant.random.randint(30, 900))
    tenant.rules.add(
        {
            "type": "group_rule",
            "id": tenant.new_id("0pr"),
            "status": "ACTIVE",
            "name": name,
            "created": created,
            "lastUpdated": created,
            "conditions": {"expression": {"value": expression, "type": "urn:okta:expression:1.0"}},
            "actions": {"assignUserToGroups": {"groupIds": [named(tenant.groups, group)["id"]]}},
        }
    )


# Applications

_GIVEN_TO = {
    "Salesforce": ("dept-sales", "dept-marketing"),
    "GitHub": ("dept-engineering",),
    "Slack": ("Everyone",),
    "Google Workspace": ("Everyone",),
    "Jira": ("dept-engineering", "dept-support"),
    "Confluence": ("dept-engineering", "dept-it"),
    "Workday": ("Everyone",),
    "AWS": ("sso-super-admins",),
    "Datadog": ("dept-engineering",),
    "HubSpot": ("dept-marketing",),
    "Zendesk": ("dept-support",),
    "NetSuite": ("dept-finance",),
    "DocuSign": ("dept-legal", "dept-sales"),
    "VPN": ("vpn-users",),
    "Payroll Portal": ("dept-people", "dept-finance"),
    "Okta Admin Console": ("sso-super-admins",),
}
_NOBODYS = ("Legacy Timesheets", "Asset Register")


def _add_applications(tenant: Tenant) -> None:
    for label, name, mode in (("Okta Admin Console", "saasure", "OPENID_CONNECT"), *APPLICATIONS):
        app = tenant.apps.add(_application(tenant, label, name, mode))
        for priority, group in enumerate(_GIVEN_TO.get(label, ())):
            found = named(tenant.groups, group)
            given = {"id": found["id"], "lastUpdated": app["created"], "priority": priority, "profile": {}}
            tenant.app_groups.setdefault(app["id"], {})[found["id"]] = given
        if label not in _NOBODYS and "Everyone" not in _GIVEN_TO.get(label, ()):
            _assign_some(tenant, app)


def _assign_some(tenant: Tenant, app: Item) -> None:
    share = 0.001 if app["name"] == "saasure" else tenant.random.uniform(0.005, 0.05)
    for user in tenant.users:
        if user["status"] == "ACTIVE" and tenant.random.random() < share:
            tenant.assign(user["id"], app["id"], max(user["created"], tenant.at(days=tenant.random.randint(8, 300))))


def _application(tenant: Tenant, label: str, name: str, mode: str) -> Item:
    created = tenant.at(days=tenant.random.randint(100, 365 * YEARS_OF_HISTORY))
    key = tenant.new_id("0oa")
    return {
        "id": key,
        "orn": f"orn:okta:idp:00o0000simulatoR05d7:apps:{name}:{key}",
        "name": name,
        "label": label,
        "status": "INACTIVE" if label == "Legacy Timesheets" else "ACTIVE",
        "lastUpdated": max(created, tenant.at(days=tenant.random.randint(8, 90))),
        "created": created,
        "accessibility": {"selfService": False, "errorRedirectUrl": None, "loginRedirectUrl": None},
        "visibility": {"autoSubmitToolbar": False, "hide": {"iOS": False, "web": False}, "appLinks": {"login": True}},
        "features": [],
        "signOnMode": mode,
        "credentials": {
            "userNameTemplate": {"template": "${source.login}", "type": "BUILT_IN"},
            "signing": {"kid": f"simulated-{key}"},
        },
        "universalLogout": None,
        "settings": {
            "app": {},
            "notifications": {"vpn": {"network": {"connection": "DISABLED"}, "message": None, "helpUrl": None}},
            "manualProvisioning": False,
            "implicitAssignment": False,
        },
    }


# Factors, roles, devices

_FACTORS = (
    ("push", "OKTA", "OKTA", "opf"),
    ("token:software:totp", "GOOGLE", "GOOGLE", "uft"),
    ("sms", "OKTA", "OKTA", "mbl"),
    ("webauthn", "FIDO", "FIDO", "fwf"),
    ("signed_nonce", "OKTA", "OKTA", "crp"),
    ("email", "OKTA", "OKTA", "emf"),
)
_SETS = ((0, 5), (0, 1), (2,), (0, 4), (3, 0), (2, 5), (5,), ())


def enrol(tenant: Tenant, user: Item) -> None:
    """Gives a user factors. Of those who may sign in, some have none, and some only weak ones."""
    if user["status"] in ("STAGED", "PROVISIONED", "DEPROVISIONED"):
        return
    chosen = tenant.random.choices(_SETS, weights=(30, 20, 12, 12, 10, 8, 4, 4))[0]
    tenant.factors[user["id"]] = [_factor(tenant, user, *_FACTORS[index]) for index in chosen]


def _factor(tenant: Tenant, user: Item, kind: str, provider: str, vendor: str, prefix: str) -> Item:
    created = max(user["created"], tenant.at(days=tenant.random.randint(8, 700)))
    status = "PENDING_ACTIVATION" if tenant.random.random() < 0.03 else "ACTIVE"
    return {
        "id": tenant.new_id(prefix),
        "factorType": kind,
        "provider": provider,
        "vendorName": vendor,
        "status": status,
        "created": created,
        "lastUpdated": created,
        "profile": {"credentialId": user["profile"]["login"]},
    }


def _add_roles(tenant: Tenant) -> None:
    group = named(tenant.groups, "sso-super-admins")
    tenant.roles[group["id"]] = [role(tenant, "SUPER_ADMIN", "GROUP")]
    helpers = named(tenant.groups, "sso-help-desk")
    tenant.roles[helpers["id"]] = [role(tenant, "HELP_DESK_ADMIN", "GROUP")]
    chosen = [user for user in tenant.users if user["status"] == "ACTIVE"][4:14]
    for user, kind in zip(chosen, (*ROLES, *ROLES), strict=False):
        tenant.roles[user["id"]] = [role(tenant, kind, "USER")]


def role(tenant: Tenant, kind: str, given_to: str) -> Item:
    created = tenant.at(days=tenant.random.randint(10, 800))
    return {
        "id": tenant.new_id("ra1"),
        "label": ROLES[kind],
        "type": kind,
        "status": "ACTIVE",
        "created": created,
        "lastUpdated": created,
        "assignmentType": given_to,
    }


def _add_devices(tenant: Tenant) -> None:
    for user in list(tenant.users):
        if user["status"] == "ACTIVE" and tenant.random.random() < 0.6:
            _device(tenant, user)


def _device(tenant: Tenant, user: Item) -> None:
    random = tenant.random
    platform, maker, model, version = random.choice(DEVICE_MODELS)
    created = max(user["created"], tenant.at(days=random.randint(8, 700)))
    key, serial = tenant.new_id("guo"), "".join(random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=10))
    tenant.devices.add(
        {
            "id": key,
            "status": "SUSPENDED" if random.random() < 0.03 else "ACTIVE",
            "created": created,
            "lastUpdated": created,
            "profile": {
                "displayName": serial,
                "platform": platform,
                "manufacturer": maker,
                "model": model,
                "osVersion": version,
                "serialNumber": serial,
                "registered": True,
                "secureHardwarePresent": platform != "ANDROID",
            },
            "resourceType": "UDDevice",
            "resourceDisplayName": {"value": serial, "sensitive": False},
            "resourceId": key,
            "resourceAlternateId": None,
        }
    )
    managed = "MANAGED" if random.random() < 0.7 else "NOT_MANAGED"
    link = {"created": created, "managementStatus": managed, "screenLockType": "BIOMETRIC", "user": user["id"]}
    tenant.device_users[key] = [link]
