"""Text from data, users or models as it stands in a prompt: one quoted JSON string on one line.

Names, comments, values and errors may hold line breaks, quotes, or sentences that look like ours ("measure revenue of
orders = 0"). As a JSON string they cannot begin a line of their own, and a model can see where they end.
"""

import json

from answerable.core.values import Json

_TEXT = 200
"""Characters of one value that are shown."""


def as_data(value: Json) -> str:
    """The value as JSON on one line. Everything that is not printable is escaped: JSON itself leaves some line breaks
    of Unicode (U+0085, U+2028, U+2029) and the signs that reverse the direction of text as they are."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def optional_data(text: str | None) -> str:
    """Empty for an empty text, so that the prompt says that there is none."""
    return as_data(text) if text else ""


def qualified(table: str, column: str) -> str:
    return f"{as_data(table)}.{as_data(column)}"


def shortened(value: Json, most: int = _TEXT) -> Json:
    return f"{value[:most]}…" if isinstance(value, str) and len(value) > most else value


def _escaped(sign: str) -> str:
    # `json.dumps` writes a sign above U+FFFF as a pair, as JSON wants it; the delete sign it leaves as it is.
    return "\\u007f" if sign == "\x7f" else json.dumps(sign)[1:-1]
