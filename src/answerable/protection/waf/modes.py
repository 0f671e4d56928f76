"""What is done with requests that look like attacks: `off`, `monitor` or `block`, for all routes or one by one."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from answerable.core.records import dataclass

Mode: TypeAlias = Literal["off", "monitor", "block"]
_RULE = re.compile(r"(off|monitor|block)(?:\s+(/[^\s,]*))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WafRule:
    mode: Mode
    route: str | None = None
    """The path of a route under `/api/v1`, or how it begins; None for all other routes."""


def parsed_modes(text: str) -> tuple[WafRule, ...]:
    """Reads modes such as `monitor, block /users, off /graphs`. Raises `ValueError` with a sentence if a part is
    wrong."""
    return tuple(_rule(part.strip()) for part in text.split(",") if part.strip())


def _rule(text: str) -> WafRule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no mode; write `off`, `monitor` or `block`, or with a route `block /users`")
    return WafRule(cast("Mode", match[1].lower()), match[2])


def mode_for(rules: Sequence[WafRule], route: str) -> Mode:
    """The mode of the rule that names most of the route."""
    fitting = [rule for rule in rules if rule.route is None or route.startswith(rule.route)]
    return max(fitting, key=lambda rule: len(rule.route or ""), default=WafRule("off")).mode
