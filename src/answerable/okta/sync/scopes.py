"""The scopes that a sync needs."""

SCOPES = (
    "okta.users.read",
    "okta.groups.read",
    "okta.apps.read",
    "okta.devices.read",
    "okta.roles.read",
    "okta.policies.read",
    "okta.networkZones.read",
    "okta.authorizationServers.read",
    "okta.logs.read",
)
