"""What a sandbox may send as JSON. The bounds hold before anything walks a message, whatever the code claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from answerable.sandbox.base import SandboxLimits
from answerable.sandbox.runner.plain import DEEPEST, MOST_VALUES

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

LARGEST_MESSAGE = 16 << 20
"""Values are small; tables go by file."""
_ALL_MESSAGES = 64 << 20
"""All messages of one run together."""
_MOST_TOKENS = 2 * MOST_VALUES
"""Commas and brackets inside of texts are counted too, so this leaves them some room. Parsing this many values takes
a few hundredths of a second, which is as long as the event loop may be blocked."""


class Broken(Exception):
    """The other side said something that it should not."""


def message_of(body: bytes, largest: int = LARGEST_MESSAGE) -> dict[str, Json]:
    """Raises `Broken` if it is not an object, nests too deeply or holds too many values."""
    if len(body) > largest:
        raise Broken(f"a message of {len(body):,} bytes")
    if body.count(b",") + body.count(b"[") + body.count(b"{") > _MOST_TOKENS:
        raise Broken("a message with too many values")
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Broken("not JSON") from error
    if not isinstance(message, dict):
        raise Broken("not an object")
    _check_depth(message)
    return message


def frames_of(limits: SandboxLimits) -> dict[str, int]:
    """How many frames and bytes a run may send: one for each byte that it prints and each call that it makes, and the
    result."""
    return {"frames": limits.output_bytes + limits.host_calls + 16, "byte_count": _ALL_MESSAGES}


def _check_depth(message: dict[str, Any]) -> None:
    """Level by level, because a function that calls itself would be at the mercy of the message."""
    level: list[Any] = [message]
    for _ in range(DEEPEST + 3):  # the message itself, `done` or `args`, and the value
        if not level:
            return
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) is dict or type(child) is list
        ]
    raise Broken("a message that is nested too deeply")
