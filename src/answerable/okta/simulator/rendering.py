"""Things as they are sent: with `_links` to this host."""

from collections.abc import Callable, Mapping
from typing import Any

from answerable.okta.simulator.tenant import Item


def user(host: str, item: Item) -> Item:
    return {**item, "_links": {"self": {"href": f"{host}/api/v1/users/{item['id']}"}}}


def whole_user(host: str, item: Item) -> Item:
    """A user that was asked for by id has links to what can be done with it."""
    here = f"{host}/api/v1/users/{item['id']}"
    verbs = {"suspend": "suspend", "resetPassword": "reset_password", "expirePassword": "expire_password",
             "resetFactors": "reset_factors", "deactivate": "deactivate"}  # fmt: skip
    actions = {name: {"href": f"{here}/lifecycle/{verb}", "method": "POST"} for name, verb in verbs.items()}
    kind = {"href": f"{host}/api/v1/meta/types/user/{item['type']['id']}"}
    return {**item, "_links": {**actions, "self": {"href": here}, "type": kind}}


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
        "deactivate": {"href": f"{here}/lifecycle/deactivate"},
    }
    return {**item, "_links": links}


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
    """A policy, zone or server, with links to itself and to its deactivation."""

    def rendered(host: str, item: Item) -> Item:
        here = f"{host}/api/v1/{path}/{item['id']}"
        off = _hinted(f"{here}/lifecycle/deactivate", "POST")
        return {**item, "_links": {"self": _hinted(here, "GET", "PUT", "DELETE"), "deactivate": off}}

    return rendered


def device(host: str, item: Item) -> Item:
    here = f"{host}/api/v1/devices/{item['id']}"
    links = {
        "self": _hinted(here, "GET", "PATCH", "PUT"),
        "users": _hinted(f"{here}/users", "GET"),
        "deactivate": _hinted(f"{here}/lifecycle/deactivate", "POST"),
    }
    return {**item, "_links": links}


def plain(_host: str, item: Item) -> Item:
    return item


def _hinted(href: str, *methods: str) -> Mapping[str, Any]:
    return {"href": href, "hints": {"allow": list(methods)}}
