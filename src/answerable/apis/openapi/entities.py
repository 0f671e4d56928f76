"""What the rows of an endpoint are called, by its path."""

import re

_VERSION = re.compile(r"v\d+(\.\d+)*|\d+\.\d+|api|rest|latest")
_VERBS = frozenset({"list", "get", "info", "read", "all", "lookup", "search", "find"})
_UNSAFE = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def resource_of(path: str) -> str:
    """The collection that a path is about: the same for `/users`, `/users/` and `/users/{id}`."""
    plain = path.rstrip("/")
    return plain.rpartition("/")[0].rstrip("/") if plain.endswith("}") else plain


def entity_name(path: str) -> str:
    """`/api/v1/users/{id}/groups` is about `groups`; `/users` and `/users/{id}` are about `users`."""
    return _joined([_parts(path)[-1]])


def qualified_name(path: str) -> str:
    """The name of an entity with the names of all that it belongs to: `dcim_interfaces`, `user_groups`."""
    return _joined(_parts(path))


def _parts(path: str) -> list[str]:
    """The words of the collection's path, without ids."""
    segments = [segment for segment in resource_of(path).split("/") if segment]
    while len(segments) > 1 and _VERSION.fullmatch(segments[0].lower()):
        segments = segments[1:]
    return [_word(segment) for segment in segments if not segment.startswith("{")] or ["items"]


def _word(segment: str) -> str:
    """`circuitTypes` and `circuit-types` become `circuit_types`; `users.list`, a call by name, becomes `users`."""
    pieces = segment.removesuffix(".json").split(".")
    while len(pieces) > 1 and pieces[-1].casefold() in _VERBS:
        pieces = pieces[:-1]
    humps = "_".join(_HUMP.sub("_", piece) for piece in pieces)
    return _UNSAFE.sub("_", humps.casefold()).strip("_") or "items"


def _joined(names: list[str]) -> str:
    joined = "_".join([*map(singular, names[:-1]), names[-1]])[:60].strip("_")
    return joined if not joined[:1].isdigit() else f"n{joined}"


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
