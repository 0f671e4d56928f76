"""Policies, network zones and authorization servers of a simulated tenant."""

from answerable.okta.simulator.people import POLICY_TYPES
from answerable.okta.simulator.tenant import Tenant, named

_SIGN_ON = {
    "access": "ALLOW",
    "requireFactor": False,
    "primaryFactor": "PASSWORD_IDP",
    "rememberDeviceByDefault": False,
    "session": {"usePersistentCookie": False, "maxSessionIdleMinutes": 720, "maxSessionLifetimeMinutes": 0},
}


def add_policies(tenant: Tenant) -> None:
    everyone = named(tenant.groups, "Everyone")["id"]
    for kind, rule_kind in POLICY_TYPES.items():
        for number, name in enumerate(("Default Policy", f"{kind.replace('_', ' ').title()} for administrators")):
            created = tenant.at(days=tenant.random.randint(200, 900))
            policy = tenant.policies.add(
                {
                    "id": tenant.new_id("rst" if kind == "ACCESS_POLICY" else "00p"),
                    "status": "ACTIVE",
                    "name": name,
                    "description": f"{name} of type {kind}",
                    "priority": 2 - number,
                    "system": number == 0,
                    "conditions": {"people": {"groups": {"include": [everyone]}}},
                    "created": created,
                    "lastUpdated": created,
                    "type": kind,
                }
            )
            tenant.policy_rules[policy["id"]] = [
                {
                    "type": rule_kind,
                    "id": tenant.new_id("0pr"),
                    "status": "ACTIVE",
                    "name": "Default Rule",
                    "priority": 1,
                    "created": created,
                    "lastUpdated": created,
                    "system": number == 0,
                    "conditions": {
                        "people": {"users": {"exclude": []}},
                        "network": {"connection": "ANYWHERE"},
                        "authContext": {"authType": "ANY"},
                    },
                    "actions": {"signon": _SIGN_ON} if rule_kind == "SIGN_ON" else {},
                }
            ]


def add_zones_and_servers(tenant: Tenant) -> None:
    for name, usage, address in (
        ("BlockedIpZone", "BLOCKLIST", None),
        ("Offices", "POLICY", "203.0.113.0/24"),
        ("VPN", "POLICY", "198.51.100.0/24"),
    ):
        created = tenant.at(days=700)
        gateways = None if address is None else [{"type": "CIDR", "value": address}]
        tenant.zones.add(
            {
                "type": "IP",
                "id": tenant.new_id("nzo"),
                "name": name,
                "status": "ACTIVE",
                "usage": usage,
                "created": created,
                "lastUpdated": created,
                "system": gateways is None,
                "gateways": gateways,
                "proxies": None,
            }
        )
    for name, audience in (("default", "api://default"), ("Partner API", "api://partners")):
        created = tenant.at(days=600)
        tenant.authorization_servers.add(
            {
                "id": tenant.new_id("aus"),
                "name": name,
                "description": f"Authorization server {name}",
                "audiences": [audience],
                "issuer": "https://simulated.okta.example/oauth2/default",
                "issuerMode": "ORG_URL",
                "status": "ACTIVE",
                "created": created,
                "lastUpdated": created,
                "credentials": {
                    "signing": {
                        "rotationMode": "AUTO",
                        "lastRotated": tenant.at(days=30),
                        "nextRotation": tenant.at(days=-60),
                        "kid": "simulated",
                    }
                },
            }
        )
