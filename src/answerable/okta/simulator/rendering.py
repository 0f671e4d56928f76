"""Things as they are sent: with `_links` to this host."""

from collections.abc import Callable, Mapping
from typing import Any

from answerable.okta.simulator.tenant import Item

_USER_ACTIONS = {
    "suspend": "lifecycle/suspend",
    "resetPassword": "lifecycle/reset_password",
    "forgotPassword": "credentials/forgot_password",
    "expirePassword": "lifecycle/expire_password",
    "changeRecoveryQuestion": "credentials/change_recovery_question",
    "changePassword": "credentials/change_password",
    "resetFactors": "lifecycle/reset_factors",
    "deactivate": "lifecycle/deactivate",
}


def user(host: str, item: Item) -> Item:
    return {**item, "_links": {"self": {"href": f"{host}/api/v1/users/{item['id']}"}}}


def whole_user(host: str, item: Item) -> Item:
    """A user that was asked for by id has links to what can be done with it."""
    here, kind = f"{host}/api/v1/users/{item['id']}", item["type"]["id"]
    actions = {name: {"href": f"{here}/{verb}", "method": "POST"} for name, verb in _USER_ACTIONS.items()}
    described = {
        "schema": {"href": f"{host}/api/v1/meta/schemas/user/osc{kind[3:]}"},
        "type": {"href": f"{host}/api/v1/meta/types/user/{kind}"},
    }
    return {**item, "_links": {**actions, **described, "self": {"href": here}}}


def group(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/groups/{item['id']}"
    logo = [{"name": size, "href": f"{host}/assets/{size}.png", "type": "image/png"} for size in ("medium", "large")]
    return {**item, "_links": {"logo": logo, "users": {"href": f"{here}/users"}, "apps": {"href": f"{here}/apps"}}}


def app(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/apps/{item['id']}"
    links = {
        "uploadLogo": {"href": f"{here}/logo", "hints": {"allow": ["POST"]}},
        "appLinks": [{"name": "login", "href": f"{host}/home/{item['name']}/{item['id']}", "type": "text/html"}],
        "groups": {"href": f"{here}/groups"},
        "logo": [{"name": "medium", "href": f"{host}/assets/{item['name']}.png", "type": "image/png"}],
        "users": {"href": f"{here}/users"},
    }
    turn = "deactivate" if item["status"] == "ACTIVE" else "activate"
    return {**item, "_links": {**links, turn: {"href": f"{here}/lifecycle/{turn}"}}}


def app_user(app_id: str) -> Callable[[str, Item], Item]:
    def rendered(host: str, item: Item) -> Item:
        links = {"app": {"href": f"{host}/api/v1/apps/{app_id}"}, "user": {"href": f"{host}/api/v1/users/{item['id']}"}}
        return {**item, "_links": links}

    return rendered


def app_group(app_id: str) -> Callable[[str, Item], Item]:
    def rendered(host: str, item: Item) -> Item:
        here = f"{host}/api/v1/apps/{app_id}"
        links = {
            "app": {"href": here},
            "self": {"href": f"{here}/groups/{item['id']}"},
            "group": {"href": f"{host}/api/v1/groups/{item['id']}"},
        }
        return {**item, "_links": links}

    return rendered


def factor(user_id: str) -> Callable[[str, Item], Item]:
    def rendered(host: str, item: Item) -> Item:
        owner = f"{host}/api/v1/users/{user_id}"
        links = {"self": _hinted(f"{owner}/factors/{item['id']}", "GET", "DELETE"), "user": _hinted(owner, "GET")}
        return {**item, "_links": links}

    return rendered


def role(assignee: str) -> Callable[[str, Item], Item]:
    return lambda host, item: {**item, "_links": {"assignee": {"href": f"{host}/api/v1/{assignee}"}}}


def hinted(path: str) -> Callable[[str, Item], Item]:
    """A zone or a rule, with links to itself and to its deactivation."""

    def rendered(host: str, item: Item) -> Item:
        here = f"{host}/api/v1/{path}/{item['id']}"
        return {**item, "_links": {"self": _hinted(here, "GET", "PUT", "DELETE"), **_turn(here, item)}}

    return rendered


def policy(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/policies/{item['id']}"
    links = {"self": _hinted(here, "GET", "PUT", "DELETE"), "rules": _hinted(f"{here}/rules", "GET", "POST")}
    return {**item, "_links": {**links, **_turn(here, item)}}


def authorization_server(host: str, item: Item) -> Item:
    name = "default" if item["name"] == "default" else item["id"]
    here, issuer = f"{host}/api/v1/authorizationServers/{name}", f"{host}/oauth2/{name}"
    links: dict[str, Any] = {
        "rotateKey": _hinted(f"{here}/credentials/lifecycle/keyRotate", "POST"),
        "metadata": [
            {"name": kind, **_hinted(f"{issuer}/.well-known/{kind}", "GET")}
            for kind in ("oauth-authorization-server", "openid-configuration")
        ],
        "keys": _hinted(f"{here}/credentials/keys", "GET"),
        "self": _hinted(here, "GET", "DELETE", "PUT"),
    }
    links |= {part: _hinted(f"{here}/{part}", "GET", "POST") for part in ("claims", "policies", "scopes")}
    return {**item, "_links": {**links, **_turn(here, item)}}


def device(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/devices/{item['id']}"
    links = {
        "self": _hinted(here, "GET", "PATCH", "PUT"),
        "users": _hinted(f"{here}/users", "GET"),
    }
    return {**item, "_links": {**links, **_turn(here, item)}}


def whole_device(host: str, item: Item) -> Item:
    """A device that was asked for by id says where it was registered."""
    verify = {"id": "aut0000simulatoR05d7", "name": "Okta Verify", "key": "okta_verify"}
    return {**device(host, item), "_embedded": {"originatedFrom": [verify]}}


def plain(_host: str, item: Item) -> Item:
    return item


def _turn(here: str, item: Item) -> Mapping[str, Any]:
    """What can be done with it next: it is turned off, or on again."""
    verb = "deactivate" if item["status"] in ("ACTIVE", "SUSPENDED") else "activate"
    return {verb: _hinted(f"{here}/lifecycle/{verb}", "POST")}


def _hinted(href: str, *methods: str) -> Mapping[str, Any]:
    return {"href": href, "hints": {"allow": list(methods)}}
