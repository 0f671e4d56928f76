"""One page of a list: what `filter`, `search`, `q`, `after` and `limit` leave of it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from answerable.okta.simulator import problems
from answerable.okta.simulator.filters import FilterError, Matches, parsed
from answerable.okta.simulator.tenant import Item, Items

_REPEATED = ("q", "search", "filter", "expand", "type", "sortBy", "sortOrder")
"""Parameters that links repeat, in the order in which they do."""


@dataclass(frozen=True, slots=True)
class PagedList:
    items: Items | Sequence[Item]
    """In the order of their ids."""
    render: Callable[[str, Item], Item]
    kind: str
    """Name of the resource in errors."""
    default: int
    most: int
    searched: tuple[str, ...] = ()
    """Attributes whose beginning `q` looks for."""
    shown: Matches | None = None
    """What is listed if neither `filter` nor `search` says so; None for everything."""
    tells_limit: bool = True
    """Whether the link to the page itself says how many fit on it."""


@dataclass(frozen=True, slots=True)
class Page:
    items: Sequence[Item]
    links: Sequence[tuple[str, str]]
    """Relation and address."""


def page(listing: PagedList, host: str, path: str, params: Mapping[str, str]) -> Page:
    limit = limit_of(params, listing.default, listing.most)
    cursor = params.get("after", "")
    if cursor and not (cursor.isalnum() and cursor[:2] in ("00", "0o", "0p", "gu", "rs", "nz", "au", "ra")):
        raise problems.invalid_cursor(listing.kind)
    matches = _matches(listing, params)
    found = list(islice((item for item in _after(listing.items, cursor) if matches(item)), limit + 1))
    shown = found[:limit]
    repeated = {"limit": str(limit), **{name: params[name] for name in _REPEATED if name in params}}
    here = repeated if listing.tells_limit or "limit" in params else {**repeated, "limit": ""}
    links = [("self", address(host, path, {"after": cursor, **here}))]
    if len(found) > limit:
        links.append(("next", address(host, path, {"after": shown[-1]["id"], **repeated})))
    return Page([listing.render(host, item) for item in shown], links)


def address(host: str, path: str, params: Mapping[str, str]) -> str:
    query = urlencode({name: value for name, value in params.items() if value})
    return f"{host}{path}?{query}" if query else f"{host}{path}"


def limit_of(params: Mapping[str, str], default: int, most: int) -> int:
    """More than the most is as much as the most; what is not a number above 0 is refused."""
    text = params.get("limit", str(default))
    if not text.lstrip("-").isdecimal() or int(text) == 0:
        raise problems.invalid_parameter("limit", "The limit must be a positive integer.")
    return most if int(text) < 0 else min(int(text), most)


def expression(params: Mapping[str, str]) -> Matches | None:
    """The `filter` or `search` of a request; None if it has neither."""
    text = params.get("search") or params.get("filter")
    if not text:
        return None
    try:
        return parsed(text)
    except FilterError as error:
        raise problems.invalid_search(f"Invalid expression: {error}.") from error


def _matches(listing: PagedList, params: Mapping[str, str]) -> Matches:
    start = params.get("q", "").casefold() if listing.searched else ""
    found = [wanted] if (wanted := expression(params)) else []
    if start:
        found.append(lambda item: any(_text(item, name).startswith(start) for name in listing.searched))
    found = found or ([listing.shown] if listing.shown else [])
    return lambda item: all(matches(item) for matches in found)


def _after(items: Items | Sequence[Item], cursor: str) -> Iterable[Item]:
    if isinstance(items, Items):
        return items.after(cursor)
    return items[bisect_right(items, cursor, key=lambda item: item["id"]) :]


def _text(item: Mapping[str, Any], path: str) -> str:
    value: Any = item
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return str(value or "").casefold()
