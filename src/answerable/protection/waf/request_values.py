"""The values of a request, one by one, decoded as often as some program behind a server might decode them."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_VALUES = 500
MOST_CHARACTERS = 8_000
"""Of all values of a request together: looking takes time, and whoever sends much is not known yet."""
LONGEST_VALUE = 4_000
"""Characters of one value that are looked at."""
_ROUNDS = 3
_PLAIN = _set(
    "accept accept-charset accept-encoding accept-language authorization cache-control connection content-length "
    "content-type cookie host if-modified-since if-none-match keep-alive last-event-id origin pragma range "
    "referer sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user te upgrade-insecure-requests user-agent "
    "idempotency-key x-request-id x-api-key"
)
"""Headers that have checks of their own, or a form that their readers check."""
_ESCAPED = re.compile(r"%u([0-9a-fA-F]{4})|\\u\{?([0-9a-fA-F]{4})\}?|\\x([0-9a-fA-F]{2})")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_NAME_IN_PART = re.compile(r'(?:file)?name="([^"\r\n]*)')
_XML_VALUE = re.compile(r"=\s*\"([^\"<]*)\"|=\s*'([^'<]*)'|>([^<>]+)<")


@dataclass(frozen=True, slots=True)
class RequestValue:
    place: str
    """`path`, `name`, `query`, `cookie`, `header`, `agent`, `body` or `xml` (a whole XML document)."""
    field: str
    """The name of the parameter or of the JSON field that it is the value of."""
    text: str


def request_values(target: str, headers: Mapping[str, str], body: bytes) -> Iterator[RequestValue]:
    path, _, query = target.partition("?")
    yield RequestValue("path", "", decoded(path, plus=False))
    yield from _pairs(query, "query")
    for name, value in headers.items():
        lower = name.lower()
        if lower == "cookie":
            yield from _pairs(value.replace("; ", "&").replace(";", "&"), "cookie")
        elif lower == "user-agent":
            yield RequestValue("agent", lower, decoded(value, plus=False))
        elif lower == "referer":
            is_url = value.startswith(("http://", "https://"))
            if not is_url:
                yield RequestValue("header", lower, decoded(value, plus=False))
            yield from _pairs(value.partition("?")[2] if is_url else "", "header")
        elif lower not in _PLAIN:
            yield RequestValue("header", lower, decoded(value, plus=False))
    if body:
        yield from _of_body(body.decode("utf-8", "replace"), headers.get("content-type", "").lower())


def _of_body(text: str, media_type: str) -> Iterator[RequestValue]:
    if "json" in media_type or text.lstrip()[:1] in ("{", "["):
        try:
            yield from _walked(json.loads(text), "")
        except (ValueError, RecursionError):
            yield RequestValue("body", "", decoded(text, plus=False))
    elif "multipart/" in media_type:
        for name in _NAME_IN_PART.findall(text):
            yield RequestValue("name", "", decoded(name, plus=False))
        for part in re.split(r"\r?\n\r?\n", text)[1:]:
            yield RequestValue("body", "", decoded(part.split("\n--")[0], plus=False))
    elif "xml" in media_type or text.lstrip().startswith("<?xml"):
        yield RequestValue("xml", "", text[:LONGEST_VALUE])
        for pieces in _XML_VALUE.findall(text):
            yield RequestValue("body", "", decoded("".join(pieces), plus=False))
    else:
        yield from _pairs(text, "body")


def _pairs(text: str, place: str) -> Iterator[RequestValue]:
    for part in text.split("&"):
        name, equals, value = part.partition("=")
        name = decoded(name)
        if not equals and "=" in name:  # the sign was hidden from whoever split the pairs
            name, equals, value = name.partition("=")
        if name:
            yield RequestValue("name" if equals else place, "", name)
        if value:
            yield RequestValue(place, name, decoded(value))


def _walked(value: Any, field: str) -> Iterator[RequestValue]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield RequestValue("name", "", key)
            yield from _walked(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _walked(each, field)
    elif isinstance(value, str):
        yield RequestValue("body", field, decoded(value, plus=False))


def decoded(text: str, *, plus: bool = True) -> str:
    text = text[:LONGEST_VALUE]
    for turn in range(_ROUNDS):
        # A plus that was itself encoded is a plus.
        once = text.replace("+", " ") if plus and turn == 0 else text
        if "%" in once:
            once = unquote_to_bytes(once).decode("utf-8", "replace")
        once = _ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), once)
        if once == text:
            break
        text = once
    return html.unescape(html.unescape(text)).translate(_WIDE)
