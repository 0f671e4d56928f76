"""Where the rows of a page are, and which request gets the next page."""

from dataclasses import replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urljoin, urlsplit

from answerable.apis.http import HttpReply, HttpRequest
from answerable.apis.paths import checked_path
from answerable.apis.target import ApiTarget, BodyLinkPages, CursorPages, NumberedPages, OffsetPages, Pages
from answerable.core.errors import RefusedError, SourceError, UserError
from answerable.core.values import Json


def rows_of(page: Json, pages: Pages) -> list[Json]:
    """Raises `SourceError` if the page has no list of rows where `pages` says they are."""
    rows = field_of(page, pages.items)
    if not isinstance(rows, list):
        raise SourceError("The API's answer is not a page with a list of rows.", code="api_failed")
    return rows


def next_page(
    target: ApiTarget, pages: Pages, request: HttpRequest, reply: HttpReply, page: Json
) -> HttpRequest | None:
    """The request for the page after this one, or None if this is the last."""
    if isinstance(pages, CursorPages):
        cursor = field_of(page, pages.field)
        return _with(request, pages.parameter, str(cursor)) if isinstance(cursor, str | int) and cursor else None
    if isinstance(pages, NumberedPages):
        more = bool(rows_of(page, pages))
        number = _number(request, pages.parameter, pages.start) + pages.step
        return _with(request, pages.parameter, str(number)) if more else None
    if isinstance(pages, OffsetPages):
        # By the rows that came: the API may send fewer than were asked for.
        came = len(rows_of(page, pages))
        skipped = _number(request, pages.parameter, 0) + came
        return _with(request, pages.parameter, str(skipped)) if came else None
    if isinstance(pages, BodyLinkPages):
        address = field_of(page, pages.field)
        return redirected(target, request, address) if isinstance(address, str) and address else None
    return redirected(target, request, reply.links["next"]) if "next" in reply.links else None


def redirected(target: ApiTarget, request: HttpRequest, address: str) -> HttpRequest:
    """The same request at an address that the API named. It must lie in the same API, at a path that is allowed."""
    try:
        url = urlsplit(urljoin(f"{target.url}{request.path}", address))
        home = urlsplit(target.url)
        same_api = _origin(url) == _origin(home) and url.path.startswith(home.path)
    except ValueError:
        same_api = False
    if not same_api:
        raise RefusedError("The API points to another place, where nothing is followed.", code="api_path_refused")
    segments = [unquote(segment) for segment in url.path.removeprefix(home.path).split("/")]
    if any("/" in segment for segment in segments):
        raise RefusedError("The API points to a path that is not allowed.", code="api_path_refused")
    path = checked_path("/".join(segments), target.templates)
    params = [pair for pair in parse_qsl(url.query, keep_blank_values=True) if pair[0] != target.reserved_parameter]
    return replace(request, path=path, params=tuple(params))


def field_of(page: Json, dotted: str | None) -> Any:
    """What stands in a field such as `data.items`; None if it is missing; the page itself for no field."""
    for name in dotted.split(".") if dotted else ():
        page = page.get(name) if isinstance(page, dict) else None
    return page


def _number(request: HttpRequest, parameter: str, first: int) -> int:
    number = dict(request.params).get(parameter, str(first))
    if not number.isdecimal():
        raise UserError(f"The parameter {parameter!r} is the number of a page or a row.", code="api_params_invalid")
    return int(number)


def _origin(url: SplitResult) -> tuple[str, str | None, int]:
    return url.scheme, url.hostname, url.port or (443 if url.scheme == "https" else 80)


def _with(request: HttpRequest, parameter: str, value: str) -> HttpRequest:
    others = tuple(pair for pair in request.params if pair[0] != parameter)
    return replace(request, params=(*others, (parameter, value)))
