"""Resources of SCIM 2.0 (RFC 7643) as plain documents, and the changes that a PATCH (RFC 7644) makes in them."""

import copy
import re
from collections.abc import Mapping
from typing import Any

from answerable.core.errors import UserError
from answerable.identity.scim_filter import parsed_filter

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
MOST_OPERATIONS = 1_000
READ_ONLY = ("id", "meta", "schemas", "groups")
NEVER_STORED = (*READ_ONLY, "password")
_PATH = re.compile(
    r"^((?:urn:[\w.:-]+:(?=[A-Za-z]\w*(?:\.|\[|$)))?)([A-Za-z$][\w$]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$]*))?$"
)


def document(body: object) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise invalid("The body is no JSON object.", "invalidSyntax")
    return body


def stored_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """What of a resource is stored as it was sent. A password is not: people sign in at their provider."""
    return {name: value for name, value in body.items() if name.lower() not in NEVER_STORED}


def patched(resource: Mapping[str, Any], body: object) -> dict[str, Any]:
    """The resource after the operations of a PATCH, all or none."""
    operations = field_of(document(body), "Operations")
    if not isinstance(operations, list) or not operations or len(operations) > MOST_OPERATIONS:
        raise invalid(f"A PATCH has 1 to {MOST_OPERATIONS} operations.", "invalidSyntax")
    changed = copy.deepcopy(dict(resource))
    for operation in operations:
        if not isinstance(operation, dict):
            raise invalid("An operation is no object.", "invalidSyntax")
        verb = str(field_of(operation, "op")).lower()
        path, value = field_of(operation, "path"), field_of(operation, "value")
        if verb not in ("add", "replace", "remove"):
            raise invalid(f"There is no operation {verb!r}.", "invalidSyntax")
        if path is None:
            _merge(changed, verb, value)
        else:
            _change(changed, verb, str(path), value)
    return changed


def field_of(body: Mapping[str, Any], name: str) -> Any:
    """A field by its name, whose case does not matter; None without it."""
    return next((value for key, value in body.items() if key.lower() == name.lower()), None)


def truth(value: object) -> bool:
    """Whether somebody is active. Some clients send a text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise invalid("`active` is true or false.", "invalidValue")


def invalid(message: str, kind: str) -> UserError:
    return UserError(message, code="scim_invalid", scim_type=kind)


def _merge(target: dict[str, Any], verb: str, value: object) -> None:
    if verb == "remove" or not isinstance(value, dict):
        raise invalid("An operation without a path has an object as its value.", "noTarget")
    for name, inner in value.items():
        _change(target, verb, name, inner)


def _change(target: dict[str, Any], verb: str, path: str, value: Any) -> None:
    if path in target and path.startswith("urn:"):  # a whole extension
        if verb == "remove":
            del target[path]
        elif isinstance(value, dict):
            target[path] = {**target[path], **value}
        return
    parts = _PATH.match(path)
    if parts is None:
        raise invalid(f"The path {path[:100]!r} cannot be read.", "invalidPath")
    schema, name, chosen, inner = parts[1].rstrip(":"), parts[2], parts[3], parts[4]
    if name.lower() in READ_ONLY:
        raise invalid(f"`{name}` cannot be changed.", "mutability")
    if schema and schema not in (USER, GROUP):
        target = target.setdefault(schema, {})
    key = next((known for known in target if known.lower() == name.lower()), name)
    if chosen is not None:
        _change_chosen(target, key, verb, chosen, inner, value)
    elif inner is not None:
        below = target.setdefault(key, {})
        if not isinstance(below, dict):
            raise invalid(f"`{name}` has no parts.", "invalidPath")
        _put(below, inner, verb, value)
    else:
        _put(target, key, verb, value)


def _change_chosen(target: dict[str, Any], key: str, verb: str, chosen: str, inner: str | None, value: Any) -> None:
    """Changes those values of a list that a filter finds."""
    test, values = parsed_filter(chosen), target.get(key) or []
    if not isinstance(values, list):
        raise invalid(f"`{key}` is no list.", "invalidPath")
    found = [each for each in values if isinstance(each, dict) and test(each)]
    if verb == "remove" and inner is None:
        target[key] = [each for each in values if each not in found]
        return
    if not found:
        raise invalid(f"No value of `{key}` fits {chosen[:100]!r}.", "noTarget")
    for each in found:
        if inner is not None:
            _put(each, inner, verb, value)
        elif isinstance(value, dict):
            each.update(value)


def _put(target: dict[str, Any], key: str, verb: str, value: Any) -> None:
    known = target.get(key)
    if verb == "remove":
        if isinstance(known, list) and isinstance(value, list):
            gone = [_identity(each) for each in value]
            target[key] = [each for each in known if _identity(each) not in gone]
        else:
            target.pop(key, None)
    elif verb == "add" and isinstance(known, list):
        more = value if isinstance(value, list) else [value]
        there = [_identity(each) for each in known]
        target[key] = [*known, *(each for each in more if _identity(each) not in there)]
    elif verb == "add" and isinstance(known, dict) and isinstance(value, dict):
        target[key] = {**known, **value}
    else:
        target[key] = value


def _identity(value: Any) -> Any:
    return value.get("value", value) if isinstance(value, dict) else value
