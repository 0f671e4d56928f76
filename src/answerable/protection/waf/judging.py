"""What a request shows in all: findings with points, and their sum, the anomaly score."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from answerable.protection.waf.checks import CHECKS
from answerable.protection.waf.request_values import LONGEST_VALUE, MOST_VALUES, RequestValue, request_values


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


THRESHOLD = 5
"""A request with so many points is an attack."""
_METHODS = _set("GET HEAD POST PUT PATCH DELETE OPTIONS")
_SCANNERS = re.compile(
    r"nikto|sqlmap|nessus|openvas|acunetix|netsparker|w3af|masscan|zgrab|dirbuster|gobuster|wpscan|havij|arachni|skipfish|"
    r"jorgee|nuclei|wfuzz|\bffuf\b|fuzz faster|commix|whatweb|webinspect|fimap|joomscan|zmeu|feroxbuster|\.nasl\b",
    re.IGNORECASE,
)
_OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override", "proxy", "content-encoding", "lock-token")
_SESSION = re.compile(
    r"(?:^|[?&])(?:php?sess\w*|asp\w*session\w*|jsess\w*|zend_session_?id|_?session_?id|cf(?:id|token|sid)|sess(?:id)?|"
    r"\w+[._]sid|\w+_session|cakephp|laravel_session|play_session)=",
    re.IGNORECASE,
)
_METHOD = re.compile(r"(?:^|[?&])_method=(?:put|patch|delete|head|options|trace|connect)\b", re.IGNORECASE)
_PART_NAME = re.compile(r'name="[^"&]*[;\'=]')
_NO_UTF8 = re.compile(r"%c0%[89ab]|%c1%|%f[5-9a-f]%|%00", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    points: int
    place: str
    why: str


@dataclass(frozen=True, slots=True)
class RequestVerdict:
    findings: tuple[Finding, ...]

    @property
    def score(self) -> int:
        return sum(finding.points for finding in self.findings)

    @property
    def is_attack(self) -> bool:
        return self.score >= THRESHOLD


def judged(
    method: str, target: str, headers: Mapping[str, str], body: bytes, free: Collection[str] = ()
) -> RequestVerdict:
    """`headers`: by names in lower case. `free`: fields whose values are what the request is for, such as a question or
    a query: they are not looked at."""
    found = [*_of_head(method, target, headers), *_of_pairs(target, headers, body)]
    for value in islice(request_values(target, headers, body), MOST_VALUES):
        if value.field not in free or value.place == "header":
            found += _of_value(value)
    return RequestVerdict(tuple(found))


def _of_value(value: RequestValue) -> Iterator[Finding]:
    if value.place == "agent":
        return
    for name, points, check in CHECKS:
        if value.place == "xml" and name != "xml":
            continue
        if (why := check(value.text)) is not None:
            yield Finding(name, points, value.field or value.place, why)


def _of_pairs(target: str, headers: Mapping[str, str], body: bytes) -> Iterator[Finding]:
    media_type = headers.get("content-type", "")
    text = body[:LONGEST_VALUE].decode("utf-8", "replace")
    pairs = f"{target}&{text}" if "json" not in media_type else target
    if _METHOD.search(pairs):
        yield Finding("method", THRESHOLD, "_method", "another method than the request has")
    elsewhere = urlsplit(headers.get("referer", "")).netloc not in ("", headers.get("host"))
    if _SESSION.search(pairs) and elsewhere:
        yield Finding("session", THRESHOLD, "referer", "a session that another site chose")
    if "multipart/" in media_type and _PART_NAME.search(text):
        yield Finding("multipart", THRESHOLD, "name", "a name with a sign that ends it")


def _of_head(method: str, target: str, headers: Mapping[str, str]) -> Iterator[Finding]:
    if method not in _METHODS:
        yield Finding("method", THRESHOLD, "method", "a method that no route has")
    if _SCANNERS.search(headers.get("user-agent", "")):
        yield Finding("scanner", THRESHOLD, "user-agent", "a scanner")
    if any(name in headers for name in _OVERRIDES):
        yield Finding("head", THRESHOLD, "headers", "a header that changes how the request is read")
    if len(re.findall(r"\d+-\d*", headers.get("range", ""))) > 5:
        yield Finding("head", THRESHOLD, "range", "many ranges")
    if _NO_UTF8.search(target):
        yield Finding("bytes", THRESHOLD, "target", "bytes that are no text")
    if re.search(r"%0[ad]", target.partition("?")[0], re.IGNORECASE):
        yield Finding("lines", THRESHOLD, "path", "a line end in the path")
