"""Replaces personal data by its kind: `[email]`. A stream is cut only where no personal data can go on, at places that
depend on its text alone: however it is split into chunks, the same text comes out as if it had come at once."""

import re
from collections.abc import Collection
from typing import Any

from answerable.core.records import dataclass
from answerable.protection.personal.spans import KINDS, Kind

CONTEXT = 96
"""Characters before a part of a stream that still say what a number or a name in it is."""
LONGEST_PART = 20_000
"""A stream without a place to cut is cut after so many characters, so that it does not fill the memory."""
_CUT = re.compile(
    r"(?<=[a-zß-ÿ][a-zß-ÿ])[ \t](?=[a-zß-ÿ]{2,20}[ \t][a-zß-ÿ]{2})|\n(?=[^\S\n]*[a-zß-ÿ]{2,20} [a-zß-ÿ]{2})"
)
"""Between two words in small letters that another one follows. Numbers, accounts, addresses and names with capitals
do not go on there; names in small letters do only if they are of three words."""


@dataclass(frozen=True)
class Redaction:
    """`kinds`: what is replaced."""

    kinds: frozenset[Kind] = frozenset(KINDS)

    def text(self, text: str) -> str:
        stream = StreamRedaction(self.kinds)
        return stream.feed(text) + stream.end()

    def value(self, value: Any) -> Any:
        """The same JSON value with every text in it redacted. Keys are names of columns and fields, and stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(each) for each in value)
        # Card and telephone numbers are often stored as numbers.
        if isinstance(value, int) and abs(value) > 10**7 and not isinstance(value, bool):
            shown = self.text(str(value))
            return value if shown == str(value) else shown
        return value


class StreamRedaction:
    """Text goes in by chunks, and comes out redacted as soon as it is known what it is part of."""

    def __init__(self, kinds: Collection[Kind]) -> None:
        self._kinds = kinds
        self._context = ""
        self._held = ""

    def feed(self, chunk: str) -> str:
        self._held += chunk
        done = []
        while (end := _cut(self._held)) is not None:
            done.append(self._part(end))
        return "".join(done)

    def end(self) -> str:
        return self._part(len(self._held)) if self._held else ""

    def _part(self, end: int) -> str:
        from answerable.protection.personal.detect import found  # its patterns and names, for those who redact

        part, self._held = self._held[:end], self._held[end:]
        whole, before = self._context + part, len(self._context)
        self._context = whole[-CONTEXT:]
        shown, at = [], before
        for span in found(whole, self._kinds):
            if span.end <= before:
                continue
            # A span that begins in the context was not recognised there; the rest of it is still replaced.
            shown += [whole[at : max(span.start, before)], f"[{span.kind}]"]
            at = span.end
        return "".join([*shown, whole[at:]])


def _cut(text: str) -> int | None:
    """Where the next part of the stream ends, or None if more text must come first. Never 0: each part has text."""
    match = _CUT.search(text, 1)
    if match is not None and match.end() + 24 <= len(text) and match.start() <= LONGEST_PART:
        return match.start()
    return LONGEST_PART if len(text) >= LONGEST_PART + 64 else None
