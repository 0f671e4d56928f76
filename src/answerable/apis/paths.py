"""Paths and query parameters as a caller writes them: plain text, which is split, checked and encoded here.

A path is compared with the templates segment by segment, and what is sent is built anew from the segments. So nothing
in a segment can end it early, climb out of it, or mean another host.
"""

import unicodedata
from collections.abc import Sequence
from urllib.parse import quote

from answerable.core.errors import RefusedError, UserError
from answerable.core.values import Json

_MAX_PATH = 2_000
_MAX_PARAMS = 100
_FORBIDDEN = frozenset("%?#;\\")
"""Characters that servers and proxies read in different ways."""


class PathTemplate:
    """`/api/v1/users/{id}`: a path in which a name in braces stands for one segment."""

    def __init__(self, text: str) -> None:
        """Raises `ValueError`."""
        self.text = text
        if not text.startswith("/"):
            raise ValueError(f"the path {text!r} must begin with a slash")
        self._segments = text[1:].split("/")
        for segment in self._segments:
            inner = segment[1:-1] if segment.startswith("{") and segment.endswith("}") else segment
            if any(sign in inner for sign in "{}%?#;\\*") or inner in (".", ".."):
                raise ValueError(f"the path {text!r} has a segment that cannot be matched: {segment!r}")

    def matches(self, segments: Sequence[str]) -> bool:
        return len(segments) == len(self._segments) and all(map(_fits, self._segments, segments))


def _fits(expected: str, segment: str) -> bool:
    return bool(segment) if expected.startswith("{") else expected == segment


def checked_path(path: Json, templates: Sequence[PathTemplate]) -> str:
    """The path as it is sent. Raises `RefusedError` (`api_path_refused`)."""
    if not isinstance(path, str) or not path.startswith("/") or path.startswith("//"):
        raise _refused("A path is text that begins with one slash", "Give the path only, without scheme and host.")
    if len(path) > _MAX_PATH:
        raise _refused(f"The path has more than {_MAX_PATH:,} characters", "Give large values as parameters.")
    odd = next((sign for sign in path if sign in _FORBIDDEN or not sign.isprintable()), None)
    if odd is not None:
        raise _refused(f"The path holds {odd!r}", "Write ids as they are, not encoded; give a query as `params`.")
    if unicodedata.normalize("NFKC", path) != path:
        raise _refused("The path holds characters that look like others", "Write it with plain characters.")
    segments = path[1:].split("/")
    if any(segment in (".", "..") for segment in segments):
        raise _refused("The path climbs", "Write the whole path.")
    if not any(template.matches(segments) for template in templates):
        allowed = ", ".join(template.text for template in templates[:20])
        raise _refused(f"The path {path[:200]!r} is not allowed", f"Allowed are: {allowed}.")
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


def _refused(what: str, hint: str) -> RefusedError:
    return RefusedError(f"{what}. {hint}", code="api_path_refused", hint=hint)


def checked_params(params: Json, reserved: str | None = None) -> list[tuple[str, str]]:
    """Pairs of name and text in the order of `params`. A list repeats its name; None is left out. Raises `UserError`.

    `reserved` is the parameter that only the host sets.
    """
    if params is None:
        return []
    if not isinstance(params, dict) or not all(isinstance(name, str) for name in params):
        raise _wrong("Parameters are a dictionary of names and values")
    pairs: list[tuple[str, str]] = []
    for name, value in params.items():
        if reserved is not None and name.lower() == reserved.lower():
            raise _wrong(f"The parameter {name!r} is set by the host")
        values = value if isinstance(value, list) else [value]
        pairs += [(name, _text(name, each)) for each in values if each is not None]
    if len(pairs) > _MAX_PARAMS or sum(len(name) + len(text) for name, text in pairs) > 4 * _MAX_PATH:
        raise _wrong("There are too many or too long parameters")
    return pairs


def _text(name: str, value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and all(sign.isprintable() for sign in value):
        return value
    raise _wrong(f"The parameter {name[:100]!r} is neither printable text, number, true or false, nor a list of these")


def _wrong(what: str) -> UserError:
    return UserError(f"{what}.", code="api_params_invalid")
