"""What a request shows in all: findings with points, and their sum, the anomaly score."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from answerable.protection.waf import shell
from answerable.protection.waf.checks import CHECKS, CHECKS_OF_A_WORD
from answerable.protection.waf.findings import THRESHOLD, Finding, violation
from answerable.protection.waf.protocol import of_head, of_pairs
from answerable.protection.waf.request_values import MOST_CHARACTERS, MOST_VALUES, RequestValue, request_values

_WORD = re.compile(r"[\w-]+")


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
    found = [*of_head(method, target, headers), *of_pairs(target, headers, body)]
    left = MOST_CHARACTERS
    for value in islice(request_values(target, headers, body), MOST_VALUES):
        if left > 0 and (value.field not in free or value.place == "header"):
            found += _of_value(value)
            left -= len(value.text)
    return RequestVerdict(tuple(found))


def _of_value(value: RequestValue) -> Iterator[Finding]:
    is_header = value.place in ("header", "agent")
    if is_header and (why := shell.in_header(value.text)) is not None:
        yield violation("command", value.field, why)
    place = value.field or value.place
    if value.place == "xml":
        found = ((name, points, check(value.text)) for name, points, check in CHECKS if name == "xml")
        yield from (Finding(name, points, place, why) for name, points, why in found if why is not None)
        return
    # Headers come again with every request of a client; what else is sent may be secret, and is not kept.
    shown = _shown_by_header(value.text) if is_header else _shown_by(value.text)
    yield from (Finding(name, points, place, why) for name, points, why in shown)


def _shown_by(text: str) -> tuple[tuple[str, int, str], ...]:
    checks = CHECKS_OF_A_WORD if _WORD.fullmatch(text) else CHECKS
    found = ((name, points, check(text)) for name, points, check in checks)
    return tuple((name, points, why) for name, points, why in found if why is not None)


@lru_cache(maxsize=512)
def _shown_by_header(text: str) -> tuple[tuple[str, int, str], ...]:
    return _shown_by(text)
