"""How the pages of an endpoint are asked for, by its parameters and by the fields around its rows."""

import re
from collections.abc import Callable, Mapping

from answerable.apis.openapi.document import JsonObject
from answerable.apis.openapi.shape import ResponseShape
from answerable.apis.target import BodyLinkPages, CursorPages, LinkPages, NumberedPages, OffsetPages, Pages
from answerable.core.values import Frozen

USUAL_SIZE = 100
"""Rows of a page, where the document names no maximum."""
_MOST = 10_000
_SIZES = ("limit", "perpage", "pagesize", "maxresults", "pagelimit", "size", "count", "top", "$top", "first", "rows")
_CURSORS = (
    "cursor",
    "pagetoken",
    "nexttoken",
    "aftertoken",
    "continuationtoken",
    "after",
    "startingafter",
    "marker",
    "nextcursor",
    "pagecursor",
    "offset",
    "token",
)
_OFFSETS = ("offset", "skip", "$skip", "start", "startat", "startindex")
_NUMBERS = ("page", "pagenumber", "pageno", "pagenum", "p")
_NEXT_CURSOR = re.compile(r"(next|end|after).*(cursor|token|marker|offset)|cursor|nextpage\.?offset|continuationtoken")
_MARK = "next_page.offset"
_SAID_MAXIMUM = re.compile(r"(?:max(?:imum)?|up to|at most|no more than|between 1 and)\D{0,30}?(\d[\d,]{1,5})", re.I)


class PageRules(Frozen):
    pages: Pages
    size_parameter: str | None = None
    size: int | None = None
    """How many rows to ask for: the documented maximum, else the usual size. None if the size cannot be chosen."""


def page_rules(
    parameters: Mapping[str, JsonObject], schema_of: Callable[[JsonObject], JsonObject], shape: ResponseShape
) -> PageRules:
    """`parameters`: those of the query, by name."""
    names = {_plain(name): name for name in parameters}
    size_name = next((names[each] for each in _SIZES if each in names), None)
    size = _size(parameters[size_name], schema_of(parameters[size_name])) if size_name is not None else None
    return PageRules(pages=_pages(names, parameters, schema_of, shape), size_parameter=size_name, size=size)


def _pages(
    names: Mapping[str, str],
    parameters: Mapping[str, JsonObject],
    schema_of: Callable[[JsonObject], JsonObject],
    shape: ResponseShape,
) -> Pages:
    at = shape.rows_at
    if not shape.is_list:
        return LinkPages(items=at)
    link = next((name for name in shape.fields if _plain(name) in ("next", "links.next", "nextlink", "nexturl")), None)
    if link is not None:
        return BodyLinkPages(field=link, items=at)
    cursor = next((name for name in shape.fields if _NEXT_CURSOR.search(_plain(name))), None)
    by_cursor = next((names[each] for each in _CURSORS if each in names), None)
    if cursor is not None and by_cursor is not None:
        return CursorPages(field=cursor, parameter=by_cursor, items=at)
    number = next((names[each] for each in _NUMBERS if each in names), None)
    if number is not None and schema_of(parameters[number]).get("type", "integer") in ("integer", "number"):
        return NumberedPages(parameter=number, start=_first_number(schema_of(parameters[number])), items=at)
    offset = next((names[each] for each in _OFFSETS if each in names), None)
    if offset is not None:
        # Some APIs call the mark of the next page an offset, and send it with each page.
        is_mark = "token" in str(parameters[offset].get("description", "")).casefold()
        return (
            CursorPages(field=_MARK, parameter=offset, items=at) if is_mark else OffsetPages(parameter=offset, items=at)
        )
    return LinkPages(items=at)


def _first_number(schema: JsonObject) -> int:
    return 0 if 0 in (schema.get("minimum"), schema.get("default")) else 1


def _size(parameter: JsonObject, schema: JsonObject) -> int:
    for word, less in (("maximum", 0), ("exclusiveMaximum", 1)):
        most = schema.get(word)
        if isinstance(most, int) and not isinstance(most, bool) and most > less:
            return min(most - less, _MOST)
    text = " ".join(str(part.get("description", "")) for part in (parameter, schema))
    said = [int(found.replace(",", "")) for found in _SAID_MAXIMUM.findall(text)]
    return min(said[0], _MOST) if said and said[0] > 0 else USUAL_SIZE


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9$.]", "", name.casefold())
