"""Entries of the system log."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from answerable.okta.simulator.people import CITIES
from answerable.okta.simulator.tenant import Item, Tenant

MESSAGES = {
    "user.session.start": "User login to Okta",
    "user.authentication.sso": "User single sign on to app",
    "user.authentication.auth_via_mfa": "Authentication of user via MFA",
    "user.mfa.okta_verify.deny_push": "User rejected Okta push verify",
    "user.mfa.factor.activate": "Enroll new device for MFA",
    "user.mfa.factor.deactivate": "Reset factor for user",
    "user.lifecycle.create": "Create Okta user",
    "user.lifecycle.deactivate": "Deactivate Okta user",
    "user.lifecycle.suspend": "Suspend Okta user",
    "user.lifecycle.delete.initiated": "Delete Okta user",
    "user.account.lock": "Max sign in attempts exceeded",
    "user.account.update_profile": "Update user profile for Okta",
    "user.account.privilege.grant": "Grant user privilege",
    "group.user_membership.add": "Add user to group membership",
    "group.user_membership.remove": "Remove user from group membership",
    "application.user_membership.add": "Add user to application membership",
    "application.user_membership.remove": "Remove user's application membership",
    "device.user.add": "Add user to device",
}


def event(
    tenant: Tenant,
    kind: str,
    published: str,
    actor: Mapping[str, Any],
    *targets: Item,
    city: str = "Berlin",
    failure: str | None = None,
    user_agent: str = "Chrome on Mac OS X",
) -> Item:
    """`actor`: a user. `failure`: the reason, or None if it succeeded."""
    return {
        "actor": target(actor["id"], "User", _name(actor), actor["profile"]["login"]),
        "client": _client(tenant, city, user_agent),
        "authenticationContext": {
            "authenticationStep": 0,
            "externalSessionId": f"trs{tenant.random.getrandbits(64):x}",
        },
        "displayMessage": MESSAGES[kind],
        "eventType": kind,
        "outcome": {"result": "FAILURE" if failure else "SUCCESS", "reason": failure},
        "published": published,
        "severity": "WARN" if failure else "INFO",
        "target": list(targets),
        "transaction": {"type": "WEB", "id": f"{tenant.random.getrandbits(80):020x}", "detail": {}},
        "uuid": str(UUID(int=tenant.random.getrandbits(128), version=4)),
        "version": "0",
    }


def target(key: str, kind: str, name: str, alternate: str | None = None) -> Item:
    return {"id": key, "type": kind, "alternateId": alternate or name, "displayName": name, "detailEntry": None}


def user_target(user: Mapping[str, Any]) -> Item:
    return target(user["id"], "User", _name(user), user["profile"]["login"])


def group_target(group: Mapping[str, Any]) -> Item:
    return target(group["id"], "UserGroup", group["profile"]["name"], "unknown")


def app_target(app: Mapping[str, Any]) -> Item:
    return target(app["id"], "AppInstance", app["label"])


def _name(user: Mapping[str, Any]) -> str:
    return f"{user['profile']['firstName']} {user['profile']['lastName']}"


def _client(tenant: Tenant, city: str, user_agent: str) -> Item:
    country, latitude, longitude, network = CITIES[city]
    browser, _, system = user_agent.partition(" on ")
    return {
        "userAgent": {"rawUserAgent": user_agent, "os": system, "browser": browser.upper()},
        "zone": "null",
        "device": "Computer",
        "id": None,
        "ipAddress": f"{network}.{tenant.random.randint(1, 250)}",
        "geographicalContext": {
            "city": city,
            "state": None,
            "country": country,
            "postalCode": None,
            "geolocation": {"lat": latitude, "lon": longitude},
        },
    }
