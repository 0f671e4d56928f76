"""Rate limits as the operator writes them: `user 600/minute, tenant 5000/minute, user 30/minute /chat`."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, cast, get_args

from answerable.core.records import dataclass

Scope: TypeAlias = Literal["user", "key", "tenant", "address", "route"]
"""Who shares a limit. `address` is that of the client; `route` stands for everybody who uses the route."""
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_RULE = re.compile(
    rf"({'|'.join(get_args(Scope))})\s+(\d{{1,9}})/({'|'.join(_SECONDS)})(?:\s+(/[^\s,]*))?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RateRule:
    scope: Scope
    count: int
    seconds: int
    route: str | None = None
    """The path of a route under `/api/v1`, with `{…}` for its parameters; None for all routes together."""


@dataclass(frozen=True, slots=True)
class WindowLimit:
    """A rule for one caller."""

    name: str
    """Names the window: requests with the same name are counted together."""
    count: int
    seconds: int


def parsed_rules(text: str) -> tuple[RateRule, ...]:
    """Raises `ValueError` with a sentence if a rule is wrong."""
    return tuple(_rule(part.strip()) for part in text.split(",") if part.strip())


def _rule(text: str) -> RateRule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is no rate limit; write one as `user 600/minute` or `user 30/minute /chat`, "
            f"for {', '.join(get_args(Scope))}, by {', '.join(_SECONDS)}"
        )
    scope, count, period, route = match.groups()
    rule = RateRule(cast("Scope", scope.lower()), int(count), _SECONDS[period.lower()], route)
    if not rule.count:
        raise ValueError(f"{text!r} would allow nothing; a limit is at least 1")
    if rule.scope == "route" and rule.route is None:
        raise ValueError(f"{text!r} names no route; write it as `route 100/minute /chat`")
    return rule


def limits_for(rules: Sequence[RateRule], callers: Mapping[Scope, str], route: str) -> tuple[WindowLimit, ...]:
    """The limits that apply to one request. `callers`: who sends it, for each scope that is known of it."""
    return tuple(
        WindowLimit(f"{rule.scope}:{callers[rule.scope]}:{rule.route or '*'}:{rule.seconds}", rule.count, rule.seconds)
        for rule in rules
        if rule.scope in callers and rule.route in (None, route)
    )
