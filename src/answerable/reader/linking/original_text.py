"""From a place in the normalised question back to the text as the user typed it."""

import unicodedata
from collections.abc import Iterator

from answerable.reader.linking.tokens import MAX_CHARACTERS, TokenizedQuestion

_JOINING_JAMO = range(0x1160, 0x1200)


class OriginalText:
    """The text of a question. Normalising joins accents to their letters and leaves blanks out, so places differ."""

    def __init__(self, text: str, question: TokenizedQuestion) -> None:
        self._text = text
        self._question = question
        self._places = None if text == question.text else _places(text[:MAX_CHARACTERS])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the tokens `start` to `end` stand in the text."""
        first, last = self._question.tokens[start].start, self._question.tokens[end - 1].end
        if self._places is None:
            return first, last
        return self._places[first][0], self._places[last - 1][1]

    def of(self, start: int, end: int) -> str:
        first, last = self.span(start, end)
        return self._text[first:last]


def _places(text: str) -> list[tuple[int, int]]:
    """For each character of the normalised text, from where to where it stands in this one."""
    found: list[tuple[int, int]] = []
    after_blank = True
    for start, end in _letters(text):
        if text[start:end].isspace():
            if not after_blank:
                found.append((start, end))
            after_blank = True
            continue
        after_blank = False
        joined = len(unicodedata.normalize("NFC", text[start:end]))
        apart = joined == end - start
        found.extend((place, place + 1) if apart else (start, end) for place in range(start, start + joined))
    return found


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that belong to it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or text[start].isspace() or not _is_mark(text[place]):
            yield start, place
            start = place


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or ord(char) in _JOINING_JAMO
